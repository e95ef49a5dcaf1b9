package hunt

import (
	"math/rand/v2"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/mutate"
	"github.com/desynctool/desynctool/orderlog"
)

// source gives the orders of a session, tick by tick.
type source interface {
	// orders returns the orders of a tick, as they are applied. Entities are nil if the state is not known.
	orders(tick uint64, e *bisect.Entities) []orderlog.Order
	// judged takes whether an order was possible.
	judged(o *orderlog.Order, possible bool)
}

// maker makes orders up as the simulator describes them.
type maker struct {
	r     *rand.Rand
	forms *bisect.OrderForms
	kinds []orderlog.OrderKind

	kind     []uint32 // of each form
	weight   []int    // of each form, 0 for those that do not occur in the session
	possible []int    // orders so far, of each kind
	every    int
	sent     map[sender]uint32
}

// sender numbers its orders: those that other peers do not get by themselves.
type sender struct {
	player uint32
	local  bool
}

func newMaker(r *rand.Rand, forms *bisect.OrderForms, kinds []orderlog.OrderKind) *maker {
	m := &maker{r: r, forms: forms, kinds: kinds, sent: map[sender]uint32{}, possible: make([]int, len(kinds))}
	some := false
	for i := range forms.Forms {
		kind := slices.IndexFunc(kinds, func(k orderlog.OrderKind) bool { return k.Name == forms.Forms[i].Kind })
		m.kind = append(m.kind, uint32(kind))
		weight := 1 << r.IntN(4)
		if r.IntN(4) == 0 {
			weight = 0
		}
		m.weight = append(m.weight, weight)
		some = some || weight > 0
	}
	if !some {
		for i := range m.weight {
			m.weight[i] = 1
		}
	}
	m.every = max(1, int(min(forms.Every, 1<<20))<<r.IntN(3)/2)
	return m
}

// oddOrder is one in how many orders has a payload that a game would not make.
const oddOrder = 48

// orders implements source.
func (m *maker) orders(tick uint64, e *bisect.Entities) (list []orderlog.Order) {
	for _, player := range m.forms.Players {
		if m.r.IntN(m.every) > 0 {
			continue
		}
		n := 1
		if m.r.IntN(4) == 0 {
			n += m.r.IntN(4)
		}
		for range n {
			form := m.choose()
			payload, ok := m.forms.Make(m.r, form, player, e)
			if !ok {
				continue
			}
			if m.r.IntN(oddOrder) == 0 {
				payload = changedPayload(m.r, payload)
			}
			from := sender{player, m.forms.Forms[form].Local}
			list = append(list, orderlog.Order{Tick: tick, SubTick: m.r.Uint32N(1000), Player: player, Sequence: m.sent[from], Kind: m.kind[form], Payload: payload})
			m.sent[from]++
		}
	}
	orderlog.SortOrders(list)
	return list
}

// choose draws a form: the more often the less of its kind was possible so far.
func (m *maker) choose() int {
	total := 0
	weights := make([]int, len(m.weight))
	for i, w := range m.weight {
		weights[i] = w * 1024 / (8 + m.possible[m.kind[i]])
		if w > 0 {
			weights[i] = max(weights[i], 1)
		}
		total += weights[i]
	}
	n := m.r.IntN(total)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	return 0
}

// judged implements source.
func (m *maker) judged(o *orderlog.Order, possible bool) {
	if possible || m.kinds[o.Kind].Local { // a local order changes no state
		m.possible[o.Kind]++
	}
}

// changedPayload changes a payload: single values of MessagePack, else single bytes.
func changedPayload(r *rand.Rand, payload []byte) []byte {
	if mutate.Spans(payload) != nil {
		n := r.Uint64()
		script := []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
		return mutate.Change(payload, script)
	}
	payload = slices.Clone(payload)
	if len(payload) == 0 {
		return []byte{byte(r.Uint32())}
	}
	switch at := r.IntN(len(payload)); r.IntN(4) {
	case 0:
		payload[at] ^= 1 << r.IntN(8)
	case 1:
		payload[at] = byte(r.Uint32())
	case 2:
		payload = payload[:at]
	default:
		payload = append(payload, byte(r.Uint32()))
	}
	return payload
}

// fixed are orders that are known beforehand.
type fixed map[uint64][]orderlog.Order

// orders implements source.
func (f fixed) orders(tick uint64, _ *bisect.Entities) []orderlog.Order { return f[tick] }

// judged implements source.
func (f fixed) judged(*orderlog.Order, bool) {}
