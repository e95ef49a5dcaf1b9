package inputs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/orderlog"
)

// value is a value of a document.
type value struct {
	kind    notation.Kind
	holds   byte // '{' or '[', 0 for a scalar
	name    string
	text    string
	members []value
	at      int
}

// open is a map or list that is being read.
type open struct {
	value
	place string
}

// collector finds the orders in a document.
type collector struct {
	pattern *Pattern // nil while it is learned

	stack []open
	name  string
	item  bool
	held  int // values in the maps and lists of the stack

	places map[string]*census
	order  []*census
	named  bool // as a file with inputs

	found []order
	seed  uint64
	fault *notation.Error
}

func (c *collector) BeginMap(at int)  { c.begin('{', at) }
func (c *collector) BeginList(at int) { c.begin('[', at) }

func (c *collector) begin(holds byte, at int) {
	place := ""
	if n := len(c.stack); n > 0 {
		switch parent := &c.stack[n-1]; {
		case parent.holds == '[':
			place = parent.place + "[]"
		case c.item:
			place = parent.place + "." + c.name + "[]"
		default:
			place = parent.place + "." + c.name
		}
	}
	c.stack = append(c.stack, open{value: value{holds: holds, name: c.name, at: at}, place: place})
	c.name, c.item = "", false
}

func (c *collector) Name(name []byte) { c.name, c.item = string(name), false }
func (c *collector) Item(name []byte) { c.name, c.item = string(name), true }

func (c *collector) Scalar(kind notation.Kind, text []byte) {
	if n := len(c.stack); n > 0 && c.held < maxMembers {
		c.held++
		top := &c.stack[n-1]
		top.members = append(top.members, value{kind: kind, name: c.name, text: string(text)})
	}
	c.name, c.item = "", false
}

func (c *collector) End(int) {
	n := len(c.stack) - 1
	top := c.stack[n]
	c.stack = c.stack[:n]
	if top.holds == '{' && isPlace(top.place) && c.take(&top) || n == 0 {
		c.held -= top.size()
		if n == 0 {
			c.held = 0
			if c.pattern != nil && top.place != c.pattern.place {
				c.header(&top.value) // of a document with a list of orders
			}
		}
		return
	}
	if c.held < maxMembers {
		c.held++
		parent := &c.stack[n-1]
		parent.members = append(parent.members, top.value)
	}
}

// size returns the number of values in a map or list.
func (v *value) size() int {
	n := len(v.members)
	for i := range v.members {
		n += v.members[i].size()
	}
	return n
}

// listNames are names of lists of orders.
const listNames = " input inputs order orders command commands cmd cmds event events action actions move moves "

// isPlace reports whether orders may be in a place: they are the document, or in a list that is it, or has a name for
// orders.
func isPlace(place string) bool {
	return place == "" || place == "[]" || strings.HasSuffix(place, "[]") && isOrders(strings.TrimSuffix(place, "[]"))
}

func isOrders(place string) bool {
	name := place[strings.LastIndexByte(place, '.')+1:]
	return name != "" && strings.Contains(listNames, " "+strings.ToLower(name)+" ")
}

// take takes a map that may be an order, or holds the orders of a tick. It reports whether it is one.
func (c *collector) take(top *open) bool {
	if c.pattern != nil {
		return c.read(top)
	}
	one := c.census(top.place)
	if one == nil {
		return false
	}
	if list := top.orders(); list != nil && top.scalar(isTick) != nil {
		if top.full() {
			return false
		}
		inner := c.census(top.place + "." + list.name + "[]<")
		if inner != nil {
			inner.parents++
		}
		for i := range list.members {
			if inner != nil && list.members[i].holds == '{' {
				inner.count(&list.members[i], top.scalar(isTick))
			}
		}
		one.nested++
		return true
	}
	one.bare = c.named
	one.wide = one.maps == one.orders && (one.orders == 0 || one.wide) && c.named && len(top.ofPlayers()) > 1
	return one.count(&top.value, nil)
}

// ofPlayers returns the members of a map that are the inputs of a player each, nil if it has others than those and a tick.
func (v *value) ofPlayers() (out []*value) {
	for i := range v.members {
		switch m := &v.members[i]; {
		case m.holds != 0:
			return nil
		case playerName.MatchString(m.name):
			out = append(out, m)
		case !isTick(m.name) && !isLocal(m.name):
			return nil
		}
	}
	return out
}

// census returns the count of the maps in a place.
func (c *collector) census(place string) *census {
	one := c.places[place]
	if one == nil && len(c.places) < maxPlaces {
		one = &census{
			place: place, tick: map[string]int{}, player: map[string]int{},
			players: map[string]bool{}, kinds: map[string]map[string]int{},
		}
		c.places[place] = one
		c.order = append(c.order, one)
	}
	return one
}

// orders returns the list of orders in a map, nil if there is none.
func (v *value) orders() *value {
	for i := range v.members {
		if m := &v.members[i]; m.holds == '[' && isOrders(m.name) {
			return m
		}
	}
	return nil
}

// full reports whether a map holds more than one list or map, as a state does.
func (v *value) full() bool {
	n := 0
	for i := range v.members {
		if v.members[i].holds != 0 {
			n++
		}
	}
	return n > 1
}

// scalar returns the first scalar with a name that fits.
func (v *value) scalar(fits func(name string) bool) *value {
	for i := range v.members {
		if m := &v.members[i]; m.holds == 0 && fits(m.name) {
			return m
		}
	}
	return nil
}

func (v *value) named(name string) *value {
	if name == "" {
		return nil
	}
	return v.scalar(func(n string) bool { return n == name })
}

func isTick(name string) bool { return vocabulary.Of(name) == vocabulary.Tick }

func isSum(name string) bool { return vocabulary.Of(name) == vocabulary.Sum }

// census counts the maps in one place.
type census struct {
	place   string
	maps    int
	orders  int
	nested  int // that hold the orders of a tick
	parents int // of maps inside those
	wide    bool
	bare    bool // a file with inputs: they need neither a player nor a kind
	leads   int  // maps before the first order that have no tick
	states  int  // orders with values of a state, and none of an input
	ticks   int  // changes of the tick
	last    string
	tick    map[string]int
	player  map[string]int
	kinds   map[string]map[string]int
	players map[string]bool // by their values
}

// count counts a map, and reports whether it is an order. The map around it may have the tick.
func (s *census) count(v, tick *value) bool {
	if v.scalar(isSum) != nil { // a checksum among the orders
		return true
	}
	if tick == nil {
		tick = v.scalar(isTick)
	}
	player := v.scalar(isPlayer)
	var kinds []*value
	for i := range v.members {
		if m := &v.members[i]; m.isKind() {
			kinds = append(kinds, m)
		}
	}
	if tick == nil && s.orders == 0 {
		s.leads++
		return false
	}
	s.maps++
	if tick == nil || player == nil && len(kinds) == 0 && !s.wide && !s.bare {
		return false
	}
	if _, ok := tickOf(tick.text); !ok {
		return false
	}
	s.orders++
	s.tick[tick.name]++
	if tick.text != s.last {
		s.last, s.ticks = tick.text, s.ticks+1
	}
	if v.isState() {
		s.states++
	}
	if player != nil {
		s.player[player.name]++
		s.players[player.text] = true
	}
	for _, m := range kinds {
		if s.kinds[m.name] == nil {
			s.kinds[m.name] = map[string]int{}
		}
		s.kinds[m.name][m.text]++
	}
	return true
}

// isKind reports whether a member may be the kind of an order.
func (v *value) isKind() bool {
	if v.holds != 0 || v.text == "" || len(v.text) > maxKind || !slices.Contains(kindNames, strings.ToLower(v.name)) {
		return false
	}
	return strings.ToLower(v.name) != "input" || !isNumber(v.text)
}

// isState reports whether some members have names of values in a state, and no member has the name of an input.
func (v *value) isState() bool {
	return slices.ContainsFunc(v.members, func(m value) bool { return vocabulary.InState(m.name) }) &&
		!slices.ContainsFunc(v.members, func(m value) bool { return vocabulary.IsInput(m.name) })
}

// fits reports whether the place holds orders: all maps are, and there are some. A table in which each player has a row of a state
// at every tick holds none, unless the file is called so.
func (s *census) fits() bool {
	if s.orders == 0 || s.maps != s.orders || s.nested > 0 || s.leads > 1 || s.leads > 0 && s.place != "" {
		return false
	}
	if s.parents == 1 { // a list in a state
		return false
	}
	if !s.bare && !isOrders(strings.TrimSuffix(s.place, "[]")) && s.orders >= 8 && s.states == s.orders && 10*s.orders >= 9*s.ticks*len(s.players) && len(s.kinds) == 0 {
		return false
	}
	if s.orders >= 8 && 2*len(s.players) > s.orders && !s.wide { // no names
		return false
	}
	n := s.names()
	all := func(count map[string]int, name string) bool { return name != "" && count[name] == s.orders }
	if !all(s.tick, n.tick) || !all(s.player, n.player) && n.kind == "" && !n.wide && !s.bare {
		return false
	}
	return s.orders >= 3 || s.place != "" && s.place != "[]"
}

// names returns the names that most orders have.
func (s *census) names() names {
	most := func(count map[string]int) string {
		best := ""
		for name, n := range count {
			if n > count[best] || n == count[best] && name < best {
				best = name
			}
		}
		return best
	}
	n := names{tick: most(s.tick), player: most(s.player), wide: s.wide, bare: s.bare}
	if s.wide {
		n.player = ""
		return n
	}
	if s.player[n.player] < s.orders {
		n.player = ""
	}
	best := 0
	for _, name := range kindNames {
		for member, values := range s.kinds {
			sum := 0
			for _, n := range values {
				sum += n
			}
			many := len(values) > maxKinds/16 || s.orders >= 8 && 2*len(values) > s.orders
			if strings.ToLower(member) == name && sum == s.orders && !many && len(values) > best {
				best, n.kind = len(values), member
			}
		}
	}
	return n
}

// read reads a map in the place of the pattern.
func (c *collector) read(top *open) bool {
	p := c.pattern
	around, nested := strings.CutSuffix(p.place, "<")
	if !nested {
		return top.place == p.place && c.add(&top.value, nil)
	}
	list := top.orders()
	if list == nil || top.place+"."+list.name+"[]" != around {
		return false
	}
	tick := top.named(p.names.tick)
	for i := range list.members {
		if list.members[i].holds == '{' {
			c.add(&list.members[i], cmp.Or(tick, &value{}))
		}
	}
	return true
}

// add adds an order.
func (c *collector) add(v, tick *value) bool {
	n := &c.pattern.names
	if v.scalar(isSum) != nil {
		return true
	}
	inner := tick == nil
	if inner {
		tick = v.named(n.tick)
	}
	if tick == nil && len(c.found) == 0 {
		c.header(v)
		return true
	}
	one := order{kind: orderKind, offset: int64(v.at)}
	ok := tick != nil
	if ok {
		one.tick, ok = tickOf(tick.text)
	}
	if !ok {
		c.fail(v, "no "+n.tick+" that is a number")
		return true
	}
	if n.wide {
		for _, m := range v.ofPlayers() {
			player := playerName.FindStringSubmatch(m.name)
			one.player, _ = playerOf(player[2])
			one.payload = appendJSON(nil, &value{holds: '{', members: []value{{kind: m.kind, name: "input", text: m.text}}})
			c.found = append(c.found, one)
		}
		return true
	}
	player, kind := v.named(n.player), v.named(n.kind)
	if player == nil && kind == nil && !n.bare {
		c.fail(v, "neither a player nor a kind of order")
		return true
	}
	skip := []*value{kind}
	if inner {
		skip = append(skip, tick)
	}
	if kind != nil {
		one.kind = kindName(kind.name, kind.text)
	}
	if player != nil {
		named := false
		if one.player, named = playerOf(player.text); !named {
			skip = append(skip, player)
		}
	}
	one.payload = v.payload(skip)
	if len(one.payload) > orderlog.MaxPayload {
		c.fail(v, "an order of "+strconv.Itoa(len(one.payload))+" bytes")
		return true
	}
	c.found = append(c.found, one)
	return true
}

// header takes the seed from a map that is no order.
func (c *collector) header(v *value) {
	if seed := v.scalar(func(name string) bool { return strings.EqualFold(name, "seed") }); seed != nil {
		c.seed, _ = strconv.ParseUint(seed.text, 10, 64)
	}
}

// fail keeps the first fault.
func (c *collector) fail(v *value, found string) {
	if c.fault == nil {
		c.fault = &notation.Error{Offset: v.at, Msg: found + ", expected an order"}
	}
}

// payload returns the members of an order as JSON, but for those that are left out.
func (v *value) payload(skip []*value) []byte {
	var rest []value
	for i := range v.members {
		if m := &v.members[i]; !slices.Contains(skip, m) && !isLocal(m.name) {
			rest = append(rest, *m)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return appendJSON(nil, &value{holds: '{', members: rest})
}

// appendJSON appends a value as JSON without blanks, the members of a map by their names.
func appendJSON(to []byte, v *value) []byte {
	switch {
	case v.holds == '{':
		list := slices.Clone(v.members)
		lists.SortStable(list, func(a, b value) int { return strings.Compare(a.name, b.name) })
		to = append(to, '{')
		for i := range list {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendText(to, list[i].name), ':')
			to = appendJSON(to, &list[i])
		}
		return append(to, '}')
	case v.holds == '[':
		to = append(to, '[')
		for i := range v.members {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(to, &v.members[i])
		}
		return append(to, ']')
	case v.kind == notation.Null:
		return append(to, "null"...)
	case v.kind == notation.Bool, (v.kind == notation.Number || v.kind == notation.Bare) && isNumber(v.text):
		return append(to, v.text...)
	}
	return appendText(to, v.text)
}

func appendText(to []byte, text string) []byte {
	quoted, err := json.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return append(to, `""`...)
	}
	return append(to, quoted...)
}

// isNumber reports whether a text is a number of JSON.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}

// linesOf sets the lines of orders by their offsets.
func linesOf(text []byte, orders []order) {
	line, at := int64(1), 0
	for i := range orders {
		if to := min(int(orders[i].offset), len(text)); to > at {
			line += int64(bytes.Count(text[at:to], []byte("\n")))
			at = to
		}
		orders[i].line = line
	}
}
