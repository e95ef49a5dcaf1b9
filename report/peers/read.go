package report

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// PeerReportSchema is the schema of a PeerReport.
const PeerReportSchema = "desynctool.peer-report/1"

// Limits of a peer's report. The file itself has at most maxReport bytes.
const (
	maxReportNodes    = 1 << 16 // leaves, and included archetypes
	maxReportOrders   = 1 << 17
	maxReportWarnings = 1000
	maxReportWorlds   = 1 << 30 // bytes of all included archetypes together, not compressed
)

// ReadPeerReport reads a peer's own report and checks it against itself: what does not
// hold is in Contradictions. Keys that it does not know are skipped. An error is one line
// with the name, the offset, and what was expected; it is a *frame.Error where the file is
// at fault.
func ReadPeerReport(r io.Reader, name string) (*PeerReport, error) {
	b, err := readDocument(r, name)
	if err != nil {
		return nil, err
	}
	p := peerReader{b: b, name: name, json: json.NewDecoder(bytes.NewReader(b)), report: &PeerReport{
		Head: Head{Status: Inconclusive, Warnings: []string{}}, Nodes: [][2]string{}, Archetypes: []DivergedArchetype{}, Excerpt: []ReportedOrder{},
	}}
	if err := p.document(); err != nil {
		return nil, err
	}
	if err := p.report.open(name); err != nil {
		return nil, err
	}
	return p.report, nil
}

// readDocument reads a saved document of at most maxReport bytes.
func readDocument(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxReport {
		return nil, fmt.Errorf("%s: a report has at most %d MiB", name, maxReport>>20)
	}
	return b, nil
}

// maxReportValues is how many values a saved document may have that is read as a whole:
// small ones take many times more memory than text. Real ones have some ten thousand.
const maxReportValues = 1 << 20

// boundValues refuses a document with too many values. It need not be JSON.
func boundValues(b []byte, name string) error {
	values, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case !quoted && (c == ',' || c == '[' || c == '{'):
			values++
		}
	}
	if values > maxReportValues {
		return &frame.Error{Name: name, Msg: fmt.Sprintf("%d values, a saved report has at most %d", values, maxReportValues), Err: frame.ErrCorrupt}
	}
	return nil
}

// peerReader reads one report value by value, so that no list takes more memory than its
// limit allows.
type peerReader struct {
	b      []byte
	name   string
	json   *json.Decoder
	at     int64 // where the value that is being read begins
	report *PeerReport
}

// fail returns an error at the value that is being read.
func (p *peerReader) fail(format string, args ...any) error {
	return &frame.Error{Name: p.name, Offset: p.at, Msg: fmt.Sprintf(format, args...), Err: frame.ErrCorrupt}
}

// begin notes where the next value begins.
func (p *peerReader) begin() {
	p.at = p.json.InputOffset()
	for p.at < int64(len(p.b)) && strings.IndexByte(" \t\r\n,:", p.b[p.at]) >= 0 {
		p.at++
	}
}

// document reads the whole report.
func (p *peerReader) document() error {
	if err := p.delim('{', "a report"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.json.More() {
		p.begin()
		token, err := p.json.Token()
		if err != nil {
			return p.syntax("a key", err)
		}
		key, _ := token.(string)
		read := p.reader(key)
		if read == nil {
			if err := p.value(key, new(json.RawMessage)); err != nil {
				return err
			}
			continue
		}
		if seen[key] {
			return p.fail("%s is given twice", key)
		}
		seen[key] = true
		if err := read(); err != nil {
			return err
		}
	}
	if err := p.delim('}', "the end of the report"); err != nil {
		return err
	}
	p.begin()
	if _, err := p.json.Token(); err != io.EOF {
		return p.fail("something follows the report")
	}
	p.at = 0
	if p.report.Schema != PeerReportSchema {
		return p.fail("its schema is %q, expected %q", shorten(p.report.Schema, 80), PeerReportSchema)
	}
	for _, key := range []string{"seed", "tick", "state_hash"} {
		if !seen[key] {
			return p.fail("%s is missing", key)
		}
	}
	return nil
}

// reader returns what reads the value of a key, nil if the key is not known.
func (p *peerReader) reader(key string) func() error {
	r := p.report
	switch key {
	case "schema":
		return func() error { return p.value(key, &r.Schema) }
	case "status":
		return func() error { return p.status(key) }
	case "warnings":
		return func() error { return p.list(key, maxReportWarnings, p.warning) }
	case "redacted":
		return func() error {
			if err := p.value(key, &r.Redacted); err != nil || !r.Redacted {
				return err
			}
			return fmt.Errorf("%s: the report is redacted: it tells nothing of the state", p.name)
		}
	case "seed":
		return func() error { return p.seed(key) }
	case "player":
		return func() error { return p.player(key) }
	case "peer":
		return func() error { return p.text(key, &r.Peer, snapshot.MaxName) }
	case "tick":
		return func() error { return p.value(key, &r.Tick) }
	case "phase":
		return func() error { return p.phase(key) }
	case "native":
		return func() error { return p.native(key) }
	case "state_hash":
		return func() error {
			if err := p.value(key, &r.StateHash); err != nil {
				return err
			}
			return p.hash(key, &r.StateHash)
		}
	case "rng_state":
		return func() error {
			if err := p.value(key, &r.RNGState); err != nil {
				return err
			}
			return p.hex(key, &r.RNGState)
		}
	case "merkle_nodes":
		return func() error { return p.list(key, maxReportNodes, p.node) }
	case "diverged_archetypes":
		return func() error { return p.list(key, maxReportNodes, p.archetype) }
	case "order_log_window":
		return func() error { return p.window(key) }
	case "order_log_excerpt":
		return func() error { return p.list(key, maxReportOrders, p.order) }
	}
	return nil
}

// value reads one value. Null is of no type.
func (p *peerReader) value(path string, into any) error {
	p.begin()
	if _, skipped := into.(*json.RawMessage); !skipped && bytes.HasPrefix(p.b[p.at:], []byte("null")) {
		return p.fail("%s is null", path)
	}
	err := p.json.Decode(into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		return p.fail("%s is a JSON %s, expected %s", path, wrong.Value, wrong.Type)
	}
	if err != nil {
		return p.syntax(path, err)
	}
	return nil
}

// syntax returns the error of something that is no JSON.
func (p *peerReader) syntax(what string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF || strings.Contains(err.Error(), "unexpected end") {
		return &frame.Error{Name: p.name, Offset: int64(len(p.b)), Msg: fmt.Sprintf("the text ends, expected %s", what), Err: frame.ErrTorn}
	}
	return p.fail("%s: %v", what, err)
}

// delim reads a bracket.
func (p *peerReader) delim(want json.Delim, what string) error {
	p.begin()
	token, err := p.json.Token()
	if err != nil {
		return p.syntax(what, err)
	}
	if token != want {
		return p.fail("expected %s", what)
	}
	return nil
}

// list reads a list of at most so many elements.
func (p *peerReader) list(key string, most int, element func(path string) error) error {
	if err := p.delim('[', key+", a list"); err != nil {
		return err
	}
	for i := 0; p.json.More(); i++ {
		if i == most {
			p.begin()
			return p.fail("%s has more than %d elements", key, most)
		}
		if err := element(fmt.Sprintf("%s[%d]", key, i)); err != nil {
			return err
		}
	}
	return p.delim(']', "the end of "+key)
}

func (p *peerReader) status(key string) error {
	if err := p.value(key, &p.report.Status); err != nil {
		return err
	}
	switch p.report.Status {
	case InSync, Diverged, Failed, Inconclusive:
		return nil
	}
	return p.fail("%s is %q, expected in-sync, diverged, inconclusive or error", key, shorten(string(p.report.Status), 80))
}

func (p *peerReader) seed(key string) error {
	var text string
	if err := p.value(key, &text); err != nil {
		return err
	}
	seed, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return p.fail("%s is %q, expected up to 16 hex digits", key, shorten(text, 80))
	}
	p.report.Seed = fmt.Sprintf("%016x", seed)
	return nil
}

func (p *peerReader) player(key string) error {
	var player int32
	if err := p.value(key, &player); err != nil {
		return err
	}
	if player < -1 {
		return p.fail("%s is %d, expected -1 or more", key, player)
	}
	p.report.Player = int(player)
	return nil
}

func (p *peerReader) warning(path string) error {
	var text string
	if err := p.value(path, &text); err != nil {
		return err
	}
	p.report.Warnings = append(p.report.Warnings, text)
	return nil
}

func (p *peerReader) native(key string) error {
	var n Native
	if err := p.value(key, &n); err != nil {
		return err
	}
	p.report.Native = &n
	return errors.Join(p.short(key+".state", n.State, snapshot.MaxName), p.short(key+".step", n.Step, snapshot.MaxName))
}

func (p *peerReader) phase(key string) error {
	if err := p.value(key, &p.report.Phase); err != nil {
		return err
	}
	if p.report.Phase != "" && p.report.Phase != snapshot.AfterOrders {
		return p.fail("%s is %q, expected none or %q", key, shorten(p.report.Phase, 80), snapshot.AfterOrders)
	}
	return nil
}

func (p *peerReader) text(path string, into *string, most int) error {
	if err := p.value(path, into); err != nil {
		return err
	}
	return p.short(path, *into, most)
}

func (p *peerReader) short(path, text string, most int) error {
	if len(text) > most {
		return p.fail("%s has %d bytes, at most %d are allowed", path, len(text), most)
	}
	return nil
}

// hex checks hex digits and makes them lower-case.
func (p *peerReader) hex(path string, text *string) error {
	b, err := hex.DecodeString(*text)
	if err != nil {
		return p.fail("%s is %q, expected pairs of hex digits", path, shorten(*text, 80))
	}
	*text = hex.EncodeToString(b)
	return nil
}

// hash checks a hash of 8 or 32 bytes and makes it lower-case.
func (p *peerReader) hash(path string, text *string) error {
	if n := len(*text); n != 2*merkle.ShortSize && n != 2*merkle.HashSize {
		return p.fail("%s has %d characters, expected %d or %d hex digits", path, n, 2*merkle.ShortSize, 2*merkle.HashSize)
	}
	return p.hex(path, text)
}

func (p *peerReader) node(path string) error {
	var pair []string
	if err := p.value(path, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return p.fail("%s has %d elements, expected a label and a hash", path, len(pair))
	}
	if err := p.short(path+"[0]", pair[0], snapshot.MaxName); err != nil {
		return err
	}
	if err := p.hash(path+"[1]", &pair[1]); err != nil {
		return err
	}
	if n := len(p.report.Nodes); n > 0 {
		last := p.report.Nodes[n-1]
		if last[0] >= pair[0] {
			return p.fail("%s is %q, which does not follow %q; labels ascend by their bytes", path, pair[0], last[0])
		}
		if len(last[1]) != len(pair[1]) {
			return p.fail("%s has a hash of %d hex digits, the one before has %d", path, len(pair[1]), len(last[1]))
		}
	}
	p.report.Nodes = append(p.report.Nodes, [2]string(pair))
	return nil
}

func (p *peerReader) archetype(path string) error {
	var a struct {
		Label *string `json:"label"`
		World *string `json:"world"`
	}
	if err := p.value(path, &a); err != nil {
		return err
	}
	if a.Label == nil || a.World == nil {
		return p.fail("%s: expected a label and a world", path)
	}
	if err := p.short(path+".label", *a.Label, snapshot.MaxName); err != nil {
		return err
	}
	p.report.Archetypes = append(p.report.Archetypes, DivergedArchetype{*a.Label, *a.World})
	return nil
}

func (p *peerReader) window(key string) error {
	var w struct {
		From *uint64 `json:"from"`
		To   *uint64 `json:"to"`
	}
	if err := p.value(key, &w); err != nil {
		return err
	}
	if w.From == nil || w.To == nil || *w.From > *w.To {
		return p.fail("%s: expected the first and the last tick, from and to", key)
	}
	p.report.Window = &ExcerptWindow{*w.From, *w.To}
	return nil
}

func (p *peerReader) order(path string) error {
	var o struct {
		Tick     *uint64 `json:"tick"`
		SubTick  uint32  `json:"sub_tick_time"`
		Player   *uint32 `json:"player"`
		Sequence uint32  `json:"sequence"`
		Kind     *string `json:"kind"`
		Payload  string  `json:"payload"`
		Local    bool    `json:"local"`
	}
	if err := p.value(path, &o); err != nil {
		return err
	}
	if o.Tick == nil || o.Player == nil || o.Kind == nil {
		return p.fail("%s: expected a tick, a player and a kind", path)
	}
	if err := p.short(path+".kind", *o.Kind, orderlog.MaxText); err != nil {
		return err
	}
	if err := p.short(path+".payload", o.Payload, 2*orderlog.MaxPayload); err != nil {
		return err
	}
	if err := p.hex(path+".payload", &o.Payload); err != nil {
		return err
	}
	p.report.Excerpt = append(p.report.Excerpt, ReportedOrder{*o.Tick, o.SubTick, *o.Player, o.Sequence, *o.Kind, o.Payload, o.Local})
	return nil
}

// open opens the included archetypes and checks the report against itself.
func (r *PeerReport) open(name string) error {
	if r.worlds != nil {
		return nil
	}
	worlds := make(map[string]includedWorld, len(r.Archetypes))
	var wrong []string
	size := uint64(0)
	for i, a := range r.Archetypes {
		what := fmt.Sprintf("%s: diverged_archetypes[%d]", name, i)
		if _, twice := worlds[a.Label]; twice {
			return fmt.Errorf("%s: %q is given twice", what, a.Label)
		}
		b, err := base64.StdEncoding.DecodeString(a.World)
		if err != nil {
			return fmt.Errorf("%s.world: expected base64: %w", what, err)
		}
		world, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), what+".world")
		if err != nil {
			return err
		}
		info := world.Info()
		if len(info.Tables) != 1 || info.Tables[0].Class != snapshot.Archetype || info.Tables[0].Label != a.Label {
			return fmt.Errorf("%s.world: expected a snapshot that holds the archetype %q alone", what, a.Label)
		}
		n, err := world.ContentSize()
		if err != nil {
			return err
		}
		if size += n; size > maxReportWorlds {
			return fmt.Errorf("%s.world: the archetypes have more than %d MiB when they are not compressed", what, maxReportWorlds>>20)
		}
		var mismatch *snapshot.HashError
		err = errors.Join(snapshot.Check(world), world.Close())
		switch {
		case errors.As(err, &mismatch):
			wrong = append(wrong, fmt.Sprintf("world of %s: %v", a.Label, mismatch))
		case err != nil:
			return err
		}
		worlds[a.Label] = includedWorld{b, world.Info(), err == nil}
	}
	r.worlds = worlds
	r.contradictions = append(r.checkTree(), wrong...)
	for _, a := range r.Archetypes {
		r.contradictions = append(r.contradictions, r.checkWorld(a.Label)...)
	}
	return nil
}

// includedWorld is the content of one archetype. It is opened when it is needed: an open
// one takes more memory.
type includedWorld struct {
	snap []byte
	info *snapshot.Info
	good bool // its hashes are those of its content
}

// World returns the content of an archetype that a report which was read includes, with
// the state of the RNG; nil if it does not include it, or if the content does not have
// the hashes that it should.
func (r *PeerReport) World(label string) (snapshot.State, error) {
	w := r.worlds[label]
	if !w.good {
		return nil, nil
	}
	return snapshot.Open(bytes.NewReader(w.snap), int64(len(w.snap)), "world of "+label)
}

// Point returns the state point of the hashes.
func (r *PeerReport) Point() snapshot.Point {
	p := snapshot.Point{Tick: r.Tick, Phase: r.Phase}
	if r.Native != nil {
		p.Native = r.Native.State
	}
	return p
}

// Contradictions says what in a report that was read does not agree with the rest of it:
// the state hash with the nodes, nodes with the RNG state and with the included archetypes.
func (r *PeerReport) Contradictions() []string { return r.contradictions }

// node returns the hash of a leaf as hex digits.
func (r *PeerReport) node(label string) (hash string, ok bool) {
	i, ok := slices.BinarySearchFunc(r.Nodes, label, func(n [2]string, label string) int { return strings.Compare(n[0], label) })
	if !ok {
		return "", false
	}
	return r.Nodes[i][1], true
}

// sameHash reports whether two hashes in lower-case hex are equal as far as both go: the
// sync hash is the beginning of the state hash.
func sameHash(a, b string) bool {
	n := min(len(a), len(b))
	return a[:n] == b[:n]
}

// checkTree holds the hashes against each other.
func (r *PeerReport) checkTree() []string {
	var out []string
	if len(r.Nodes) > 0 && len(r.Nodes[0][1]) == 2*merkle.HashSize {
		leaves := make([]merkle.Leaf, len(r.Nodes))
		for i, n := range r.Nodes {
			leaves[i].Label = n[0]
			if err := leaves[i].Hash.UnmarshalText([]byte(n[1])); err != nil {
				return []string{fmt.Sprintf("node %q: %v", n[0], err)}
			}
		}
		if root := merkle.Root(leaves).String(); !sameHash(root, r.StateHash) {
			out = append(out, fmt.Sprintf("the state hash is %s, the nodes give %s", r.StateHash, root))
		}
	}
	if r.RNGState == "" || len(r.Nodes) == 0 {
		return out
	}
	state, err := hex.DecodeString(r.RNGState)
	if err != nil {
		return append(out, fmt.Sprintf("the RNG state is %q", r.RNGState))
	}
	node, ok := r.node("")
	if !ok {
		return append(out, "there is an RNG state, and no node of it")
	}
	if leaf := merkle.RNGLeaf(state).String(); !sameHash(leaf, node) {
		out = append(out, fmt.Sprintf("the node of the RNG is %s, its state gives %s", node, leaf))
	}
	return out
}

// checkWorld holds an included archetype against the rest of the report.
func (r *PeerReport) checkWorld(label string) []string {
	info := r.worlds[label].info
	name := "the world of " + label
	var out []string
	if seed := fmt.Sprintf("%016x", info.Seed); seed != r.Seed {
		out = append(out, fmt.Sprintf("%s is of seed %s, the report of %s", name, seed, r.Seed))
	}
	if !info.Point.Same(r.Point()) {
		out = append(out, fmt.Sprintf("%s is of state point %s, the report of %s", name, info.Point, r.Point()))
	}
	if rng := hex.EncodeToString(info.RNG); rng != "" && r.RNGState != "" && rng != r.RNGState {
		out = append(out, name+" has another RNG state than the report")
	}
	if len(r.Nodes) == 0 {
		return out
	}
	node, ok := r.node(label)
	leaf := info.Tables[0].Hash.String()
	switch {
	case !ok:
		out = append(out, fmt.Sprintf("there is a world of %s, and no node of it", label))
	case !sameHash(node, leaf):
		out = append(out, fmt.Sprintf("the node of %s is %s, its world gives %s", label, node, leaf))
	}
	return out
}

// Check holds a report against a snapshot of the same peer and says what contradicts.
func (r *PeerReport) Check(info *snapshot.Info) []string {
	if seed := fmt.Sprintf("%016x", info.Seed); seed != r.Seed {
		return []string{fmt.Sprintf("the report is of seed %s, the snapshot of %s", r.Seed, seed)}
	}
	if !info.Point.Same(r.Point()) {
		return []string{fmt.Sprintf("the report is of state point %s, the snapshot of %s", r.Point(), info.Point)}
	}
	var out []string
	if root := info.Root.String(); !sameHash(root, r.StateHash) {
		out = append(out, fmt.Sprintf("the report has state hash %s, the snapshot %s", r.StateHash, root))
	}
	if rng := hex.EncodeToString(info.RNG); info.RNG != nil && r.RNGState != "" && rng != r.RNGState {
		out = append(out, fmt.Sprintf("the report has RNG state %s, the snapshot %s", r.RNGState, rng))
	}
	if len(r.Nodes) == 0 {
		return out
	}
	has := map[string]bool{}
	for _, leaf := range info.Leaves() {
		has[leaf.Label] = true
		node, ok := r.node(leaf.Label)
		switch hash := leaf.Hash.String(); {
		case !ok:
			out = append(out, fmt.Sprintf("the report has no node of %s, the snapshot has", leafName(leaf.Label)))
		case !sameHash(hash, node):
			out = append(out, fmt.Sprintf("the report's node of %s is %s, the snapshot's %s", leafName(leaf.Label), node, hash))
		}
	}
	for _, n := range r.Nodes {
		if !has[n[0]] {
			out = append(out, fmt.Sprintf("the report has a node of %s, the snapshot has none", leafName(n[0])))
		}
	}
	return out
}

// leafName names a leaf in a text that is escaped later.
func leafName(label string) string {
	if label == "" {
		return "the RNG"
	}
	return label
}
