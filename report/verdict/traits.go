package verdict

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// traits are the properties of a divergence in the evidence of its moment, independent of the game's names for
// archetypes and systems.
type traits struct {
	initial bool
	healed  bool
	// uncompared is set if some of the peers that diverged left no orders until then.
	uncompared bool
	// inputs is how orders around the divergence differ, "" if they do not or are not
	// known; order the kind of the first one that differs, or that names what differs.
	inputs orderlog.DifferenceKind
	either bool // an order was applied twice, or once too few on the other peer
	order  string
	// named is the kind of the order that names all entities that differ, where the orders
	// are equal; "" if there is none.
	named string
	// loaded is set if a peer loaded a state at the moment at which the peers diverged.
	loaded *Sign

	// kept is a wrong guess for the divergent tick, which the peer did not go back to; nil if no trace shows one.
	kept *Sign

	// system is the first one after which the peers differ, scopes what differs after it; both need traces.
	system string
	scopes []string

	// shape describes the values that differ: in the columns that differ after the first system according to the trace
	// if it is fine enough, else in all columns at the end of the tick. It counts only if exact: else the states belong
	// to a later point. Nil without states.
	shape *shape
	point uint64 // of those states
	exact bool

	// locale is the fact that the machine of the peer who is wrong has another language than
	// those that are right, nil if that is not so, or not known.
	locale *Sign

	caches []string // that differ at the good end under equal states
	data   []Sign   // facts of the game that are not the same on all peers
}

// rngScope is the RNG among the scopes of a trace.
const rngScope = snapshot.RNG

// observe finds the traits of a divergence.
func observe(e Evidence, c *Conclusion) *traits {
	t := &traits{initial: c.InitialState, healed: e.Bisect.Healed != nil, data: factsThatDiffer(e.Facts)}
	c.byFacts(e.Facts, t)
	if c.within != nil {
		t.system, t.scopes = c.within.System, c.within.Scopes
	}
	t.orders(c)
	t.uncompared = len(c.Inputs.Unheard) > 0
	if e.Before != nil && !e.Before.RootsDiffer() {
		for i := range e.Before.Tables {
			if d := &e.Before.Tables[i]; d.Class == snapshot.Cache {
				t.caches = append(t.caches, d.Label)
			}
		}
	}
	t.loads(e, c)
	t.guesses(e, c)
	if e.Parted == nil {
		return t
	}
	t.exact = e.Diff != nil && (c.narrowed() || c.InitialState || c.Loaded != nil)
	t.shape, t.point = shapeOf(e.Parted.Diff, t.scopes), e.Parted.Diff.A.Point.Tick
	if t.exact && t.inputs == "" {
		t.named = named(e, c, t.shape)
		t.order = t.named
	}
	return t
}

// rngAlone reports whether the RNG is what differed first, and nothing else did.
func (t *traits) rngAlone() bool {
	if t.system != "" && len(t.scopes) > 0 {
		return slices.Equal(t.scopes, []string{rngScope})
	}
	return t.shape.rng && t.shape.rows == 0
}

// orders takes the difference of the inputs that made the peers diverge.
func (t *traits) orders(c *Conclusion) {
	if in := &c.Inputs; in.Differ() && in.Parting != nil {
		t.inputs, t.either, t.order = in.Parting.Kind, in.Parting.Either, in.Parting.Order
	}
}

// loads finds a peer that loaded a state where the peers diverged, by a marker in its log.
func (t *traits) loads(e Evidence, c *Conclusion) {
	if c.Tick == nil {
		return
	}
	for i := range e.Peers {
		for _, m := range e.Peers[i].Marks {
			if (m.Kind == "load" || m.Kind == "resync" || m.Kind == "join") && (m.Tick == c.Tick.Number || m.Tick == c.Tick.Number+1) {
				s := Sign{Kind: LoadedThere, Names: []string{e.Peers[i].Name, m.Kind}, Numbers: []uint64{m.Tick}}
				t.loaded = &s
			}
		}
	}
}

// guesses finds a wrong guess for the divergent tick that a peer did not correct. If a peer that is not known to be wrong
// has one too, until then, the game's checksums of inputs cover more than what it compares.
func (t *traits) guesses(e Evidence, c *Conclusion) {
	if c.Tick == nil {
		return
	}
	var by string
	for _, r := range slices.Concat(e.Traces, e.Bisect.Traces) {
		for i := range r.Traces {
			peer := r.Traces[i].Name
			for _, k := range r.Traces[i].Kept {
				switch {
				case k.Tick.Epoch > 0 || k.Tick.Number > c.Tick.Number:
				case len(c.Guilty) > 0 && !slices.Contains(c.Guilty, peer) || by != "" && by != peer:
					t.kept = nil
					return
				default:
					if by = peer; k.Tick.Number == c.Tick.Number {
						t.kept = &Sign{Kind: GuessKept, Names: []string{peer, k.Guess, k.Known}, Numbers: []uint64{uint64(k.Player)}}
					}
				}
			}
		}
	}
}

// factsThatDiffer returns the facts of the game that are not the same on all peers.
func factsThatDiffer(facts []document.Fact) (out []Sign) {
	for _, f := range facts {
		if !f.Must || !f.Differs() {
			continue
		}
		var values []string
		for _, v := range f.Values {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		out = append(out, signOf(FactDiffers, append([]string{f.Name}, values...)...))
	}
	return out
}

// languages are the names of the fact what language a machine has.
var languages = []string{"locale", "language", "lang"}

// byFacts compares the machines of peers that are wrong with the machines of peers that are right: a fact that is the
// same on both is not a cause.
func (c *Conclusion) byFacts(facts []document.Fact, t *traits) {
	for _, f := range facts {
		if !slices.Contains(languages, f.Name) {
			continue
		}
		wrong, right := f.Values[first(c.Guilty)], ""
		for name, value := range f.Values {
			if slices.Contains(c.Guilty, name) {
				continue
			}
			if value == wrong && wrong != "" {
				c.exclude(signOf(FactSame, f.Name, wrong), Locale)
				return
			}
			right = max(right, value)
		}
		if wrong != "" && right != "" {
			s := signOf(FactDiffers, f.Name, wrong, right)
			t.locale = &s
		}
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// maxNamed is how many entities that differ orders may name one by one.
const maxNamed = 24

// named returns the kind of the orders of the divergent tick that name all entities that differ, "" if they do not.
func named(e Evidence, c *Conclusion, s *shape) (kind string) {
	if s.rows == 0 || s.rows > maxNamed || !c.narrowed() {
		return ""
	}
	for row := range s.keys {
		_, key, _ := strings.Cut(row, "/")
		kind = ""
		for _, o := range e.Around {
			if !o.Local && o.Tick == c.Tick.Number && mentions(o.Payload, key) {
				kind = o.Kind
				break
			}
		}
		if kind == "" {
			return ""
		}
	}
	return kind
}

// mentions reports whether the hex digits of a payload contain the key of an entity: as one of its numbers if it names
// its fields, else as 8 bytes, or as 4 on a multiple of 4 unless it is a small number, which may mean anything.
func mentions(payload, key string) bool {
	b, err := hex.DecodeString(payload)
	if err != nil {
		return false
	}
	key, _, _ = strings.Cut(key, ":")
	n, err := strconv.ParseUint(key, 10, 64)
	if err != nil {
		return false
	}
	if orderlog.HasNumber(b, int64(n)) {
		return true
	}
	long := binary.LittleEndian.AppendUint64(nil, n)
	for i := 0; i+8 <= len(b); i += 4 {
		if bytes.Equal(b[i:i+8], long) {
			return true
		}
	}
	const small = 1 << 8
	for i := 0; i+4 <= len(b) && n >= small && n>>32 == 0; i += 4 {
		if bytes.Equal(b[i:i+4], long[:4]) {
			return true
		}
	}
	return false
}
