package check

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	reportSchema  = "desynctool.peer-report/1"
	maxReport     = 64 << 20
	maxNodes      = 1 << 16
	maxOrders     = 1 << 17
	maxWarnings   = 1000
	maxAllContent = 1 << 30
)

// isPeerReport reports whether a file begins as a JSON object does that has a key of a report.
func isPeerReport(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	for _, key := range []string{"desynctool.peer-report/", `"state_hash"`, `"merkle_nodes"`, `"diverged_archetypes"`} {
		if bytes.Contains(head, []byte(key)) {
			return true
		}
	}
	return false
}

// jsonNode is [label, hash] of a report.
type jsonNode struct {
	label string
	hash  []byte // nil if it is none
}

type reportChecker struct {
	c    *checker
	b    []byte
	json *json.Decoder
	at   int64 // of the value that is checked

	known    facts
	seen     map[string]bool
	seed     uint64
	seeded   bool
	tick     uint64
	ticked   bool
	phase    string
	hash     []byte // of the state
	hashAt   int64
	rng      []byte
	rngAt    int64
	nodes    []jsonNode
	nodesAt  int64
	nodesBad bool // a node could not be read
	window   *[2]uint64
	orders   []uint64 // ticks of the excerpt
	ordersAt []int64
	worlds   []world
	labels   map[string]bool   // of worlds
	leaves   map[string][]byte // hashes of nodes, by label
	content  uint64            // bytes of all worlds when they are not compressed
}

// world is the content of an archetype.
type world struct {
	label string
	at    int64
	path  string
	snap  []byte
}

func checkPeerReport(c *checker, in *input) (facts, error) {
	b, err := io.ReadAll(io.LimitReader(in.content, maxReport+1))
	if err != nil {
		return facts{}, err
	}
	r := &reportChecker{c: c, b: b, json: json.NewDecoder(bytes.NewReader(b)), seen: map[string]bool{}, labels: map[string]bool{}, leaves: map[string][]byte{}}
	r.json.UseNumber()
	r.known.report = &reportFacts{}
	if len(b) > maxReport {
		c.add("report-size", offsetAt(maxReport, ""), "the report has more than %d bytes", maxReport)
		return r.known, nil
	}
	if !utf8.Valid(b) {
		at := 0
		for at < len(b) {
			char, n := utf8.DecodeRune(b[at:])
			if char == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		c.add("report-json", offsetAt(int64(at), ""), "a byte that is not UTF-8")
	}
	if !r.document() {
		return r.known, nil
	}
	for _, key := range []string{"schema", "seed", "tick", "state_hash"} {
		if !r.seen[key] {
			c.add("report-required", place{}, "%s is missing", key)
		}
	}
	r.known.seed, r.known.seeded = r.seed, r.seeded
	r.known.report.tick, r.known.report.hash, r.known.report.phase = r.tick, r.hash, r.phase
	r.tree()
	r.excerpt()
	if err := r.contents(); err != nil {
		return facts{}, err
	}
	reportName(c, in.name, r)
	return r.known, nil
}

// begin notes where the next value begins.
func (r *reportChecker) begin() {
	r.at = r.json.InputOffset()
	for r.at < int64(len(r.b)) && strings.IndexByte(" \t\r\n,:", r.b[r.at]) >= 0 {
		r.at++
	}
}

func (r *reportChecker) add(rule, path, format string, args ...any) {
	r.c.add(rule, offsetAt(r.at, path), format, args...)
}

// syntax reports that the text is not JSON; nothing after it can be read.
func (r *reportChecker) syntax(path string, err error) bool {
	text := err.Error()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		text = "the text ends"
	}
	r.c.add("report-json", offsetAt(min(r.json.InputOffset(), int64(len(r.b))), path), "%s", strings.TrimPrefix(text, "json: "))
	return false
}

// document reads the whole report, and reports false if it cannot be read to its end.
func (r *reportChecker) document() bool {
	r.begin()
	if _, err := r.json.Token(); err != nil { // the brace that it was recognised by
		return r.syntax("", err)
	}
	for r.json.More() {
		r.begin()
		token, err := r.json.Token()
		if err != nil {
			return r.syntax("", err)
		}
		key, _ := token.(string)
		if r.seen[key] {
			r.add("report-twice", key, "the key occurs a second time")
		}
		if len(r.seen) < 1<<16 {
			r.seen[key] = true
		}
		if !r.value(key) {
			return false
		}
	}
	if _, err := r.json.Token(); err != nil {
		return r.syntax("", err)
	}
	r.begin()
	if _, err := r.json.Token(); err != io.EOF {
		r.add("report-json", "", "something follows the object")
	}
	return true
}

// value checks the value of a key.
func (r *reportChecker) value(key string) bool {
	lists := map[string]struct {
		most int
		one  func(path string, raw json.RawMessage)
	}{
		"warnings":            {maxWarnings, func(path string, raw json.RawMessage) { r.text(path, raw) }},
		"merkle_nodes":        {maxNodes, r.node},
		"diverged_archetypes": {maxNodes, r.archetype},
		"order_log_excerpt":   {maxOrders, r.order},
	}
	if list, ok := lists[key]; ok {
		return r.list(key, list.most, list.one)
	}
	r.begin()
	var raw json.RawMessage
	if err := r.json.Decode(&raw); err != nil {
		return r.syntax(key, err)
	}
	one := map[string]func(string, json.RawMessage){
		"schema": r.schema, "seed": r.readSeed, "tick": r.readTick, "state_hash": r.stateHash, "status": r.status, "player": r.player,
		"peer": r.peer, "phase": r.readPhase, "native": r.native, "rng_state": r.rngState, "order_log_window": r.readWindow, "redacted": r.redacted,
	}[key]
	if one == nil {
		r.c.once("report-unknown", offsetAt(r.at, key), "the key %s is not known; it is skipped", quoted(key))
		return true
	}
	one(key, raw)
	return true
}

func (r *reportChecker) list(key string, most int, one func(path string, raw json.RawMessage)) bool {
	r.begin()
	if key == "merkle_nodes" {
		r.nodesAt = r.at
	}
	if r.at < int64(len(r.b)) && r.b[r.at] != '[' {
		var raw json.RawMessage
		if err := r.json.Decode(&raw); err != nil {
			return r.syntax(key, err)
		}
		r.wrongType(key, raw, "a list")
		return true
	}
	if _, err := r.json.Token(); err != nil {
		return r.syntax(key, err)
	}
	for i := 0; r.json.More(); i++ {
		r.begin()
		path := fmt.Sprintf("%s[%d]", key, i)
		if i == most {
			r.add("report-limit", path, "more than %d elements", most)
		}
		var raw json.RawMessage
		if err := r.json.Decode(&raw); err != nil {
			return r.syntax(path, err)
		}
		if i < most {
			one(path, raw)
		}
	}
	if _, err := r.json.Token(); err != nil {
		return r.syntax(key, err)
	}
	return true
}

func (r *reportChecker) wrongType(path string, raw json.RawMessage, want string) {
	if string(raw) == "null" {
		r.add("report-null", path, "null, expected %s", want)
		return
	}
	r.add("report-type", path, "%s, expected %s", quoted(string(raw)), want)
}

func (r *reportChecker) text(path string, raw json.RawMessage) (string, bool) {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		r.wrongType(path, raw, "a string")
		return "", false
	}
	return *s, true
}

func (r *reportChecker) short(path string, raw json.RawMessage, most int) (string, bool) {
	s, ok := r.text(path, raw)
	if len(s) > most {
		r.add("report-limit", path, "%d bytes, at most %d are allowed", len(s), most)
	}
	return s, ok
}

// integer reads an integer from low to high.
func (r *reportChecker) integer(path string, raw json.RawMessage, low int64, high uint64) (int64, uint64, bool) {
	text := string(raw)
	if text == "" || strings.Trim(text, "+-.eE0123456789") != "" {
		r.wrongType(path, raw, "an integer")
		return 0, 0, false
	}
	if strings.ContainsAny(text, ".eE") {
		r.add("report-integers", path, "%s, expected an integer without fraction and exponent", text)
		return 0, 0, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < 0 {
		if n < low {
			r.add("report-type", path, "%d, expected %d or more", n, low)
			return 0, 0, false
		}
		return n, 0, true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > high {
		r.add("report-type", path, "%s, expected an integer of at most %d", text, high)
		return 0, 0, false
	}
	return int64(min(n, math.MaxInt64)), n, true
}

func (r *reportChecker) hex(path string, s string) ([]byte, bool) {
	b, err := hex.DecodeString(s)
	if err != nil {
		r.add("report-hex", path, "%s, expected pairs of hex digits", quoted(s))
		return nil, false
	}
	return b, true
}

func (r *reportChecker) hashOf(path string, s string) []byte {
	b, ok := r.hex(path, s)
	if ok && len(b) != syncSize && len(b) != hashSize {
		r.add("report-hash", path, "a hash of %d bytes, expected 8 or 32", len(b))
		return nil
	}
	return b
}

func (r *reportChecker) schema(path string, raw json.RawMessage) {
	if s, ok := r.text(path, raw); ok && s != reportSchema {
		r.add("report-schema", path, "%s, expected %q", quoted(s), reportSchema)
	}
}

func (r *reportChecker) readSeed(path string, raw json.RawMessage) {
	s, ok := r.text(path, raw)
	if !ok {
		return
	}
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil || len(s) > 16 {
		r.add("report-hex", path, "%s, expected up to 16 hex digits", quoted(s))
		return
	}
	r.seed, r.seeded = n, true
}

func (r *reportChecker) readTick(path string, raw json.RawMessage) {
	_, r.tick, r.ticked = r.integer(path, raw, 0, math.MaxUint64)
}

func (r *reportChecker) stateHash(path string, raw json.RawMessage) {
	if s, ok := r.text(path, raw); ok {
		r.hash, r.hashAt = r.hashOf(path, s), r.at
	}
}

func (r *reportChecker) status(path string, raw json.RawMessage) {
	if s, ok := r.text(path, raw); ok && s != "diverged" && s != "in-sync" && s != "inconclusive" {
		r.add("report-status", path, "%s", quoted(s))
	}
}

func (r *reportChecker) player(path string, raw json.RawMessage) {
	r.integer(path, raw, -1, math.MaxInt32)
}

func (r *reportChecker) peer(path string, raw json.RawMessage) {
	r.known.report.peer, _ = r.short(path, raw, maxName)
}

func (r *reportChecker) readPhase(path string, raw json.RawMessage) {
	s, ok := r.text(path, raw)
	if ok && s != "" && s != "after-orders" {
		r.add("report-phase", path, "%s", quoted(s))
	}
	r.phase = s
}

func (r *reportChecker) native(path string, raw json.RawMessage) {
	var n *struct{ State json.RawMessage }
	if err := json.Unmarshal(raw, &n); err != nil || n == nil {
		r.wrongType(path, raw, "an object")
		return
	}
	if n.State != nil {
		r.known.report.native, _ = r.short(path+".state", n.State, maxName)
	}
}

func (r *reportChecker) rngState(path string, raw json.RawMessage) {
	if s, ok := r.text(path, raw); ok {
		r.rng, _ = r.hex(path, s)
		r.rngAt = r.at
	}
}

func (r *reportChecker) redacted(path string, raw json.RawMessage) {
	if string(raw) != "false" {
		r.add("report-redacted", path, "the report is redacted: it says nothing of the state")
	}
}

func (r *reportChecker) node(path string, raw json.RawMessage) {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil || len(pair) != 2 {
		r.wrongType(path, raw, "a label and a hash")
		r.nodesBad = true
		return
	}
	label, ok := r.short(path+"[0]", pair[0], maxName)
	text, ok2 := r.text(path+"[1]", pair[1])
	n := jsonNode{label: label}
	if ok2 {
		n.hash = r.hashOf(path+"[1]", text)
	}
	r.nodesBad = r.nodesBad || !ok || n.hash == nil
	if k := len(r.nodes); k > 0 {
		last := &r.nodes[k-1]
		if last.label >= label {
			r.add("report-nodes-order", path, "%s follows %s", quoted(label), quoted(last.label))
			r.nodesBad = true
		}
		if n.hash != nil && last.hash != nil && len(n.hash) != len(last.hash) {
			r.add("report-nodes-width", path, "a hash of %d bytes, the one before has %d", len(n.hash), len(last.hash))
			r.nodesBad = true
		}
	}
	r.nodes = append(r.nodes, n)
	r.leaves[label] = n.hash
}

func (r *reportChecker) archetype(path string, raw json.RawMessage) {
	var a *struct{ Label, World json.RawMessage }
	if err := json.Unmarshal(raw, &a); err != nil || a == nil || a.Label == nil || a.World == nil {
		r.wrongType(path, raw, "a label and a world")
		return
	}
	label, ok := r.short(path+".label", a.Label, maxName)
	text, ok2 := r.text(path+".world", a.World)
	if !ok || !ok2 {
		return
	}
	if r.labels[label] {
		r.add("report-label-twice", path, "%s is given twice", quoted(label))
	}
	r.labels[label] = true
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		r.add("report-base64", path+".world", "it is not Base64 with padding")
		return
	}
	r.worlds = append(r.worlds, world{label, r.at, path + ".world", b})
}

func (r *reportChecker) readWindow(path string, raw json.RawMessage) {
	var w *struct{ From, To json.RawMessage }
	if err := json.Unmarshal(raw, &w); err != nil || w == nil || w.From == nil || w.To == nil {
		r.wrongType(path, raw, "the first and the last tick, from and to")
		return
	}
	_, from, ok := r.integer(path+".from", w.From, 0, math.MaxUint64)
	_, to, ok2 := r.integer(path+".to", w.To, 0, math.MaxUint64)
	if ok && ok2 && from > to {
		r.add("report-window", path, "from %d to %d", from, to)
		return
	}
	if ok && ok2 {
		r.window = &[2]uint64{from, to}
	}
}

func (r *reportChecker) order(path string, raw json.RawMessage) {
	var o *struct {
		Tick     json.RawMessage `json:"tick"`
		SubTick  json.RawMessage `json:"sub_tick_time"`
		Player   json.RawMessage `json:"player"`
		Sequence json.RawMessage `json:"sequence"`
		Kind     json.RawMessage `json:"kind"`
		Payload  json.RawMessage `json:"payload"`
		Local    json.RawMessage `json:"local"`
	}
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		r.wrongType(path, raw, "an order")
		return
	}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"tick", o.Tick}, {"player", o.Player}, {"kind", o.Kind}} {
		if part.raw == nil {
			r.add("report-order", path, "%s is missing", part.name)
		}
	}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"sub_tick_time", o.SubTick}, {"player", o.Player}, {"sequence", o.Sequence}} {
		if part.raw != nil {
			r.integer(path+"."+part.name, part.raw, 0, math.MaxUint32)
		}
	}
	if o.Kind != nil {
		r.short(path+".kind", o.Kind, maxText)
	}
	if o.Payload != nil {
		if s, ok := r.short(path+".payload", o.Payload, 2*maxOrderPayload); ok {
			r.hex(path+".payload", s)
		}
	}
	if o.Local != nil && string(o.Local) != "true" && string(o.Local) != "false" {
		r.wrongType(path+".local", o.Local, "true or false")
	}
	if o.Tick == nil {
		return
	}
	if _, tick, ok := r.integer(path+".tick", o.Tick, 0, math.MaxUint64); ok {
		r.orders, r.ordersAt = append(r.orders, tick), append(r.ordersAt, r.at)
	}
}

// sameHash reports whether two hashes are equal as far as both go.
func sameHash(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}

// tree holds the hashes against each other.
func (r *reportChecker) tree() {
	if len(r.nodes) == 0 || r.nodesBad {
		return
	}
	if len(r.nodes[0].hash) == hashSize && r.hash != nil {
		var leaves [][]byte
		for _, n := range r.nodes {
			leaves = append(leaves, n.hash)
		}
		if root := rootOf(leaves); !sameHash(root, r.hash) {
			r.c.add("report-root", offsetAt(r.hashAt, "state_hash"), "the state hash is %x, the nodes give %x", r.hash, root)
		}
	}
	if len(r.rng) == 0 {
		return
	}
	switch node := r.leaves[""]; {
	case node == nil:
		r.c.add("report-rng", offsetAt(r.nodesAt, "merkle_nodes"), "there is an RNG state, and no node of it")
	case !sameHash(node, rngLeaf(r.rng)):
		r.c.add("report-rng", offsetAt(r.rngAt, "rng_state"), "the node of the RNG is %x, its state gives %x", node, rngLeaf(r.rng))
	}
}

// excerpt holds the orders against the window and the state point.
func (r *reportChecker) excerpt() {
	for i, tick := range r.orders {
		where := offsetAt(r.ordersAt[i], fmt.Sprintf("order_log_excerpt[%d]", i))
		switch after := r.phase == "after-orders"; {
		case r.ticked && (tick > r.tick || tick == r.tick && !after):
			r.c.add("report-order-late", where, "an order of tick %d, which is not before state point %d", tick, r.tick)
		case r.window != nil && (tick < r.window[0] || tick > r.window[1]):
			r.c.add("report-order-window", where, "an order of tick %d, outside of the window from %d to %d", tick, r.window[0], r.window[1])
		}
	}
	if len(r.orders) > 0 && !r.seen["order_log_window"] {
		r.c.add("report-no-window", place{}, "orders without a window: that a tick has none does not show")
	}
}

// contents checks the included archetypes.
func (r *reportChecker) contents() error {
	for _, w := range r.worlds {
		where := offsetAt(w.at, w.path)
		if !bytes.HasPrefix(w.snap, []byte(snapMagic)) {
			r.c.add("report-world", where, "it does not begin as a .snap does")
			continue
		}
		s := &snapChecker{c: r.c, in: bytes.NewReader(w.snap), size: int64(len(w.snap)), base: -1, what: w.path}
		err := s.check()
		s.close()
		if err != nil {
			return err
		}
		if !s.whole {
			continue // of which the snapshot's rules have told
		}
		f := s.known.snap
		if len(f.tables) != 1 || f.tables[0] != "0/"+w.label {
			r.c.add("report-world", where, "it holds %d tables, expected the archetype %s alone", len(f.tables), quoted(w.label))
			continue
		}
		r.content += s.raw
		if r.content > maxAllContent {
			r.c.add("report-limit", where, "all content has more than %d bytes when it is not compressed", maxAllContent)
			return nil
		}
		switch {
		case r.seeded && s.known.seed != r.seed:
			r.c.add("report-world-header", where, "its seed is %016x, the report's %016x", s.known.seed, r.seed)
		case r.ticked && (f.tick != r.tick || f.phase != r.phase):
			r.c.add("report-world-header", where, "its state point is %d %s, the report's %d %s", f.tick, f.phase, r.tick, r.phase)
		case len(f.rng) > 0 && len(r.rng) > 0 && !bytes.Equal(f.rng, r.rng):
			r.c.add("report-world-header", where, "its RNG state is %x, the report's %x", f.rng, r.rng)
		}
		if len(r.nodes) == 0 || r.nodesBad {
			continue
		}
		switch node := r.leaves[w.label]; {
		case node == nil:
			r.c.add("report-node-content", where, "there is no node of %s", quoted(w.label))
		case !sameHash(node, f.leaves[0].hash):
			r.c.add("report-node-content", where, "its leaf hash is %x, the node of %s %x", f.leaves[0].hash, quoted(w.label), node)
		}
	}
	return nil
}
