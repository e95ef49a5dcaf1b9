package peers

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Schema is the schema of a Report.
const Schema = "desynctool.peer-report/1"

// Limits of a peer's report. The file itself has at most limits.Report bytes.
const (
	maxReportNodes    = 1 << 16 // leaves, and included archetypes
	maxReportOrders   = 1 << 17
	maxReportWarnings = 1000
	maxReportKeys     = 1 << 16 // unknown keys that Check checks for duplicates
	maxReportWorlds   = 1 << 30 // bytes of all included archetypes together, not compressed
)

// Read reads a peer's own report and checks that it agrees with itself; Contradictions lists what does not. Keys that
// it does not know are skipped. An error is one line with the name, the offset, and what was expected; it is a
// *frame.Error where the file is at fault.
func Read(r io.Reader, name string) (*Report, error) {
	b, err := readDocument(r, name)
	if err != nil {
		return nil, err
	}
	p := newReader(b, name)
	if err := p.document(); err != nil {
		return nil, err
	}
	if err := p.report.open(name); err != nil {
		return nil, err
	}
	return p.report, nil
}

// reader reads one report value by value, so that no list takes more memory than its
// limit allows.
type reader struct {
	b      []byte
	name   string
	json   *json.Decoder
	at     int64 // where the value that is being read begins
	report *Report
	strict *strict // of Check; nil if reading ends at the first error
}

func newReader(b []byte, name string) *reader {
	return &reader{b: b, name: name, json: json.NewDecoder(bytes.NewReader(b)), report: &Report{
		Head: document.Head{Status: document.Inconclusive, Warnings: []string{}}, Nodes: [][2]string{}, Archetypes: []Archetype{}, Excerpt: []document.ReportedOrder{},
	}}
}

// fail returns an error at the value that is being read: the rule that it breaks, and its path.
func (p *reader) fail(rule, path, format string, args ...any) error {
	return &frame.Error{Name: p.name, Offset: p.at, Msg: fmt.Sprintf(format, args...), Err: frame.ErrCorrupt, Rule: rule, In: path}
}

// begin notes where the next value begins.
func (p *reader) begin() {
	p.at = p.json.InputOffset()
	for p.at < int64(len(p.b)) && strings.IndexByte(" \t\r\n,:", p.b[p.at]) >= 0 {
		p.at++
	}
}

// document reads the whole report.
func (p *reader) document() error {
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
		if seen[key] {
			if err := p.pass(p.fail("report-twice", key, "%s is given twice", key)); err != nil {
				return err
			}
		}
		read := p.reader(key)
		if read == nil {
			if err := p.unknown(key); err != nil {
				return err
			}
			seen[key] = p.strict != nil && len(seen) < maxReportKeys
			continue
		}
		seen[key] = true
		if err := p.pass(read()); err != nil {
			return err
		}
	}
	if err := p.delim('}', "the end of the report"); err != nil {
		return err
	}
	p.begin()
	if _, err := p.json.Token(); err != io.EOF {
		return p.fail("report-json", "", "something follows the report")
	}
	return p.required(seen)
}

// required checks that the report has the keys that it needs.
func (p *reader) required(seen map[string]bool) error {
	p.at = p.place("schema")
	if p.report.Schema != Schema && (seen["schema"] || p.strict == nil) {
		err := p.fail("report-schema", "schema", "its schema is %q, expected %q", prose.Cut(p.report.Schema, 80), Schema)
		if err := p.pass(err); err != nil {
			return err
		}
	}
	p.at = 0
	for _, key := range []string{"schema", "seed", "tick", "state_hash"} {
		if !seen[key] {
			if err := p.pass(p.fail("report-required", key, "%s is missing", key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// reader returns what reads the value of a key, nil if the key is not known.
func (p *reader) reader(key string) func() error {
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
			const text = "the report is redacted: it contains nothing about the state"
			if p.strict != nil {
				return p.fail("report-redacted", key, text)
			}
			return fmt.Errorf("%s: %s", p.name, text)
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

// value reads one value. Null has no type.
func (p *reader) value(path string, into any) error {
	p.begin()
	p.keepPlace(path)
	_, skipped := into.(*json.RawMessage)
	if !skipped && bytes.HasPrefix(p.b[p.at:], []byte("null")) {
		_ = p.json.Decode(new(json.RawMessage)) // the rest is read if that is allowed
		return p.fail("report-null", path, "%s is null", path)
	}
	err := p.json.Decode(into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		rule := "report-type"
		if strings.HasPrefix(wrong.Value, "number") && strings.ContainsAny(wrong.Value, ".E") && wrong.Type.Kind() != reflect.String {
			rule = "report-integers"
		}
		return p.fail(rule, path, "%s is a JSON %s, expected %s", path, wrong.Value, wrong.Type)
	}
	if err != nil {
		return p.syntax(path, err)
	}
	return nil
}

// syntax returns the error of something that is not JSON.
func (p *reader) syntax(what string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF || strings.Contains(err.Error(), "unexpected end") {
		return &frame.Error{
			Name: p.name, Offset: int64(len(p.b)), Msg: fmt.Sprintf("the text ends, expected %s", what), Err: frame.ErrTorn, Rule: "report-json",
		}
	}
	return p.fail("report-json", "", "%s: %v", what, err)
}

// delim reads a bracket.
func (p *reader) delim(want json.Delim, what string) error {
	p.begin()
	token, err := p.json.Token()
	if err != nil {
		return p.syntax(what, err)
	}
	if token != want {
		return p.fail("report-type", "", "expected %s", what)
	}
	return nil
}

// list reads a list with a limited number of elements.
func (p *reader) list(key string, most int, element func(path string) error) error {
	p.begin()
	p.keepPlace(key)
	if p.strict != nil && !bytes.HasPrefix(p.b[p.at:], []byte("[")) {
		return p.value(key, new([]json.RawMessage))
	}
	if err := p.delim('[', key+", a list"); err != nil {
		return err
	}
	for i := 0; p.json.More(); i++ {
		path := fmt.Sprintf("%s[%d]", key, i)
		if i >= most {
			p.begin()
			err := p.fail("report-limit", path, "%s has more than %d elements", key, most)
			if p.pass(err) != nil {
				return err
			}
			element, most = func(path string) error { return p.value(path, new(json.RawMessage)) }, math.MaxInt
		}
		if err := p.pass(element(path)); err != nil {
			return err
		}
	}
	return p.delim(']', "the end of "+key)
}

func (p *reader) status(key string) error {
	if err := p.value(key, &p.report.Status); err != nil {
		return err
	}
	switch p.report.Status {
	case document.InSync, document.Diverged, document.Inconclusive:
		return nil
	case document.Failed: // only readers take it
		if p.strict == nil {
			return nil
		}
	}
	return p.fail("report-status", key, "%s is %q, expected in-sync, diverged, inconclusive or error", key, prose.Cut(string(p.report.Status), 80))
}

func (p *reader) seed(key string) error {
	var text string
	if err := p.value(key, &text); err != nil {
		return err
	}
	seed, err := strconv.ParseUint(text, 16, 64)
	if err != nil || p.strict != nil && len(text) > 16 {
		return p.fail("report-hex", key, "%s is %q, expected up to 16 hex digits", key, prose.Cut(text, 80))
	}
	p.report.Seed = fmt.Sprintf("%016x", seed)
	return nil
}

func (p *reader) player(key string) error {
	var player int32
	if err := p.value(key, &player); err != nil {
		return err
	}
	if player < -1 {
		return p.fail("report-type", key, "%s is %d, expected -1 or more", key, player)
	}
	p.report.Player = int(player)
	return nil
}

func (p *reader) warning(path string) error {
	var text string
	if err := p.value(path, &text); err != nil {
		return err
	}
	p.report.Warnings = append(p.report.Warnings, text)
	return nil
}

func (p *reader) native(key string) error {
	var n document.Native
	if err := p.value(key, &n); err != nil {
		return err
	}
	p.report.Native = &n
	return errors.Join(p.short(key+".state", n.State, snapshot.MaxName), p.short(key+".step", n.Step, snapshot.MaxName))
}

func (p *reader) phase(key string) error {
	if err := p.value(key, &p.report.Phase); err != nil {
		return err
	}
	if p.report.Phase != "" && p.report.Phase != snapshot.AfterOrders {
		return p.fail("report-phase", key, "%s is %q, expected none or %q", key, prose.Cut(p.report.Phase, 80), snapshot.AfterOrders)
	}
	return nil
}

func (p *reader) text(path string, into *string, most int) error {
	if err := p.value(path, into); err != nil {
		return err
	}
	return p.short(path, *into, most)
}

func (p *reader) short(path, text string, most int) error {
	if len(text) > most {
		return p.fail("report-limit", path, "%s has %d bytes, at most %d are allowed", path, len(text), most)
	}
	return nil
}

// hex checks hex digits and makes them lower-case.
func (p *reader) hex(path string, text *string) error {
	b, err := hex.DecodeString(*text)
	if err != nil {
		return p.fail("report-hex", path, "%s is %q, expected pairs of hex digits", path, prose.Cut(*text, 80))
	}
	*text = hex.EncodeToString(b)
	return nil
}

// hash checks a hash of 8 or 32 bytes and makes it lower-case.
func (p *reader) hash(path string, text *string) error {
	if n := len(*text); n != 2*merkle.ShortSize && n != 2*merkle.HashSize {
		return p.fail("report-hash", path, "%s has %d characters, expected %d or %d hex digits", path, n, 2*merkle.ShortSize, 2*merkle.HashSize)
	}
	return p.hex(path, text)
}

func (p *reader) node(path string) error {
	var pair []string
	if err := p.value(path, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return p.fail("report-type", path, "%s has %d elements, expected a label and a hash", path, len(pair))
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
			return p.fail("report-nodes-order", path, "%s is %q, which does not follow %q; labels ascend by their bytes", path, pair[0], last[0])
		}
		if len(last[1]) != len(pair[1]) {
			return p.fail("report-nodes-width", path, "%s has a hash of %d hex digits, the one before has %d", path, len(pair[1]), len(last[1]))
		}
	}
	p.report.Nodes = append(p.report.Nodes, [2]string(pair))
	return nil
}

func (p *reader) archetype(path string) error {
	var a struct {
		Label *string `json:"label"`
		World *string `json:"world"`
	}
	if err := p.value(path, &a); err != nil {
		return err
	}
	if a.Label == nil || a.World == nil {
		return p.fail("report-type", path, "%s: expected a label and a world", path)
	}
	if err := p.short(path+".label", *a.Label, snapshot.MaxName); err != nil {
		return err
	}
	p.report.Archetypes = append(p.report.Archetypes, Archetype{*a.Label, *a.World})
	return nil
}

func (p *reader) window(key string) error {
	var w struct {
		From *uint64 `json:"from"`
		To   *uint64 `json:"to"`
	}
	if err := p.value(key, &w); err != nil {
		return err
	}
	const expected = "%s: expected the first and the last tick, from and to"
	switch {
	case w.From == nil || w.To == nil:
		return p.fail("report-type", key, expected, key)
	case *w.From > *w.To:
		return p.fail("report-window", key, expected, key)
	}
	p.report.Window = &Window{*w.From, *w.To}
	return nil
}

func (p *reader) order(path string) error {
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
		return p.fail("report-order", path, "%s: expected a tick, a player and a kind", path)
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
	p.report.Excerpt = append(p.report.Excerpt, document.ReportedOrder{
		Tick: *o.Tick, SubTick: o.SubTick, Player: *o.Player, Sequence: o.Sequence, Kind: *o.Kind, Payload: o.Payload, Local: o.Local,
	})
	return nil
}
