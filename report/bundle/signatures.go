package bundle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// isChain reports whether it is a chain of tick signatures.
func (f *File) isChain() bool { return f.Format != nil && f.Format.Signatures }

// OpenSigners reads the chain that states and proofs are compared with, and verifies it. The key, if not nil, is the
// trusted one; a chain by another refuses all states.
func OpenSigners(tree *archive.Tree, path string, key *signatures.Key) (*snapshot.Signers, error) {
	signed, err := formats.ReadChain(tree, path)
	if err != nil {
		return nil, err
	}
	s := &snapshot.Signers{Path: path, Signed: signed}
	if key != nil {
		s.Refused = signed.By(*key)
		s.Trusted = s.Refused == nil
	}
	return s, nil
}

// Donate tries the states that some peers offer, in their order, until the content of one gives the wanted full root,
// by want.Root or want.Signed. It returns the findings about each tried state; the last one is accepted if its Err and
// Untold are nil.
func Donate(tree *archive.Tree, donors []string, want snapshot.Expected) (list snapshot.Verification, accepted bool) {
	for _, path := range donors {
		v := donate(tree, path, want)
		list = append(list, v)
		if v.Err == nil {
			return list, true
		}
	}
	return list, false
}

// donate tries one donor. Err has every reason against accepting it.
func donate(tree *archive.Tree, path string, want snapshot.Expected) snapshot.Verified {
	v, err := verifyState(tree, path, want)
	if err != nil {
		return snapshot.Verified{Path: path, What: "donor", Err: fmt.Errorf("not usable: %w", tree.Explain(err))}
	}
	v.What = "donor"
	if v.Err == nil && v.Untold != nil {
		v.Err, v.Untold = v.Untold, nil
	}
	return v
}

// verifyState verifies a state: FILE, FOLDER@TICK or FILE@TICK.
func verifyState(tree *archive.Tree, path string, want snapshot.Expected) (snapshot.Verified, error) {
	state, _, err := OpenState(tree, path)
	if err != nil {
		return snapshot.Verified{}, err
	}
	defer state.Close()
	return snapshot.VerifyState(state, path, len(formats.Unchecked(tree, []string{path})) == 0, want)
}

// Chains returns the chains of tick signatures in the session. A file with the name of a state is not one.
func (s *Session) Chains() (list []*File) {
	add := func(f *File) {
		if f != nil && f.isChain() && !slices.Contains(list, f) && (s.match == nil || s.match.has(f.Path)) {
			list = append(list, f)
		}
	}
	for _, p := range s.places {
		add(p.loose())
	}
	for _, f := range s.files {
		add(f)
	}
	return list
}

// signer returns the peer of a chain: the peer that its header names, since peers may keep the chains of others; else
// the peer of the folder that contains it. It returns nil if there is none.
func (s *Session) signer(f *File, name string) *Peer {
	for _, p := range s.Peers() {
		if name != "" && (p.Name == name || p.States.Peer == name) {
			return p
		}
	}
	for _, p := range s.Peers() {
		if f.place != nil && !f.place.shared && f.place.path == p.Path {
			return p
		}
	}
	return nil
}

// chain reads and verifies a chain, the first time that it is called.
func (s *Session) chain(f *File) (*signatures.Signed, error) {
	if f.chain == nil {
		f.chain = &chained{}
		f.chain.signed, f.chain.err = formats.ReadChain(s.tree, f.Path)
	}
	return f.chain.signed, f.chain.err
}

// chained is a chain, once it was read.
type chained struct {
	signed *signatures.Signed
	err    error
}

// signedHashes gives a peer without an order log the hashes that its chain signs. A chain that cannot be read is
// reported by Contradictions.
func (s *Session) signedHashes(b *bisect.Peer, p *Peer) {
	for _, f := range s.Chains() {
		signed, err := s.chain(f)
		if err != nil || s.signer(f, s.names.peer(signed.Header.Peer)) != p {
			continue
		}
		h := bisect.NewHashes(orderlog.Header{Seed: signed.Header.Seed, Peer: p.Name})
		for tick, state := range signed.All() {
			sync := state.Short()
			h.Add(&orderlog.Record{Kind: orderlog.ObservedRecord, Observed: []orderlog.Observed{
				{Point: tick, Kind: orderlog.SyncHash, Coverage: orderlog.Full, Bytes: sync[:]}}})
		}
		b.Log = h.Log()
		b.Log.Name, b.Log.Signed = f.Path, true
		return
	}
}

// VerifySigned verifies a chain, and compares its peer's files with it: the roots of its snapshots, and its log's
// hashes. It returns the findings about the chain itself, then about the files next to it, if there are any. The error
// means that the chain could not be read.
func (s *Session) VerifySigned(f *File) (snapshot.Verification, error) {
	signed, err := s.chain(f)
	if err != nil {
		return nil, err
	}
	list := snapshot.Verification{snapshot.VerifyChain(signed.Chain, f.Path, nil)}
	p := s.signer(f, s.names.peer(signed.Header.Peer))
	if p == nil {
		return list, nil
	}
	c := &signedFiles{signed: signed}
	for _, e := range p.States.Entries {
		if info, err := e.Info(); err == nil && e.Point.Phase == "" {
			c.root(e.Path(), info)
		}
	}
	if p.Log != nil {
		if err := c.log(s, p.Log); err != nil && !damaged(err) { // the log's own check has reported that it is damaged
			return list, err
		}
	}
	if c.compared == 0 && len(c.wrong) == 0 {
		return list, nil
	}
	return append(list, snapshot.Verified{
		Path: p.Path, What: "signed session", Err: errors.Join(c.wrong...),
		Note: fmt.Sprintf("%s agree with %s", prose.Count(c.compared-c.differ, "hash of a state", "hashes of states"), f.Path),
	}), nil
}

// oneReason is the first of the errors that were joined to one, and how many there are.
func oneReason(err error) string {
	list := document.Reasons(err)
	if len(list) == 1 {
		return list[0].Error()
	}
	return fmt.Sprintf("%s (the first of %d)", list[0], len(list))
}

// Contradictions lists where chains of tick signatures are not valid, and where they contradict their peers' files:
// each with the file. Held is how many chains are valid and contradict nothing; lost lists the chains that could not be
// read.
func (s *Session) Contradictions() (texts []string, held int, lost []string) {
	for _, f := range s.Chains() {
		list, err := s.VerifySigned(f)
		if err != nil {
			lost = append(lost, err.Error())
			continue
		}
		wrong := false
		for _, v := range list {
			if v.Err != nil {
				wrong = true
				texts = append(texts, fmt.Sprintf("%s: %s", f.Path, oneReason(v.Err)))
			}
		}
		if !wrong {
			held++
		}
	}
	return texts, held, lost
}

// maxUnsigned is how many hashes that are not the signed ones are listed.
const maxUnsigned = 10

// signedFiles compares files of one peer with its chain.
type signedFiles struct {
	signed           *signatures.Signed
	compared, differ int
	wrong            []error
}

func (c *signedFiles) fail(format string, args ...any) {
	c.differ++
	switch {
	case len(c.wrong) < maxUnsigned:
		c.wrong = append(c.wrong, fmt.Errorf(format, args...))
	case len(c.wrong) == maxUnsigned:
		c.wrong = append(c.wrong, errors.New("and more that differ"))
	}
}

func (c *signedFiles) root(path string, info *snapshot.Info) {
	if info.Seed != c.signed.Header.Seed {
		c.fail("%s: of seed %016x, the chain of seed %016x", path, info.Seed, c.signed.Header.Seed)
		return
	}
	if want, err := c.signed.State(info.Point.Tick); err == nil {
		if c.compared++; info.Root != want {
			c.fail("%s: the root is %s, signed for tick %d is %s", path, info.Root, info.Point.Tick, want)
		}
	}
}

// log compares the hashes that a peer recorded of its states with the chain. Where it went back and played a tick
// again, one of the two is enough.
func (c *signedFiles) log(s *Session, f *File) error {
	source, closer, err := openLog(s.tree, f, nil)
	if err != nil {
		return err
	}
	defer closer.Close()
	h := &chain{syncs: map[moment]merkle.Short{}, states: map[moment]merkle.Hash{}, histories: map[moment]merkle.Hash{}}
	if header := source.Header(); header.Seed != c.signed.Header.Seed {
		c.fail("%s: of seed %016x, the chain of seed %016x", f.Path, header.Seed, c.signed.Header.Seed)
		return nil
	}
	err = h.read(source)
	agree, differ := map[uint64]bool{}, map[uint64]string{}
	compare := func(point uint64, same func(want merkle.Hash) bool, what string) {
		want, err := c.signed.State(point)
		switch {
		case err != nil:
		case same(want):
			agree[point] = true
		default:
			differ[point] = max(differ[point], fmt.Sprintf("%s, signed is %s", what, want))
		}
	}
	for at, sync := range h.syncs {
		if _, full := h.states[at]; !full {
			compare(at.point, func(want merkle.Hash) bool { return want.Short() == sync }, fmt.Sprintf("sync hash is %s", sync))
		}
	}
	for at, state := range h.states {
		compare(at.point, func(want merkle.Hash) bool { return want == state }, fmt.Sprintf("state hash is %s", state))
	}
	c.compared += len(agree)
	var points []uint64
	for point := range differ {
		if !agree[point] {
			points = append(points, point)
		}
	}
	slices.Sort(points)
	c.compared += len(points)
	for _, point := range points {
		c.fail("%s: tick %d: the recorded %s", f.Path, point, differ[point])
	}
	return err
}
