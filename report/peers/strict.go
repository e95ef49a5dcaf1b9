package peers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot"
)

// Checking receives what Check finds in a report.
type Checking struct {
	// Broken takes an error for each rule that the report breaks. Its offset is -1 where the rule
	// is about the whole file.
	Broken func(*frame.Error)
	// World checks the content of an archetype, and reports whether its header can be used.
	World func(path string, offset int64, snap []byte) bool
}

// Check reads a report as Read does, and continues after a value that breaks a rule. Values that could not be read are
// empty in the result.
func Check(b []byte, to Checking) *Report {
	p := newReader(b, "")
	p.strict = &strict{Checking: to, places: map[string]int64{}, bad: map[string]bool{}}
	if err := p.document(); err != nil {
		p.strict.take(err)
		return p.report
	}
	p.consistency()
	return p.report
}

// strict is what a reader has in addition for Check.
type strict struct {
	Checking
	places  map[string]int64 // where values begin, by path
	bad     map[string]bool  // keys with values that break a rule
	unknown bool             // a key was not known
}

// take hands an error on if it is about a rule.
func (s *strict) take(err error) bool {
	e, ok := errors.AsType[*frame.Error](err)
	if !ok || e.Rule == "" {
		return false
	}
	key, _, _ := strings.Cut(e.In, "[")
	key, _, _ = strings.Cut(key, ".")
	s.bad[key] = true
	if e.Rule == "report-required" {
		e.Offset, e.In = -1, ""
	}
	s.Broken(e)
	return true
}

// pass returns the error of a value, or nil if it was handed on and the next value can be read.
func (p *reader) pass(err error) error {
	if err == nil || p.strict == nil {
		return err
	}
	if e, ok := errors.AsType[*frame.Error](err); ok && e.Rule == "report-json" || !p.strict.take(err) {
		return err
	}
	return nil
}

// place returns where a value begins, if that was kept.
func (p *reader) place(path string) int64 {
	if p.strict == nil {
		return 0
	}
	return p.strict.places[path]
}

func (p *reader) keepPlace(path string) {
	if p.strict != nil {
		p.strict.places[path] = p.at
	}
}

// unknown skips the value of a key that is not known.
func (p *reader) unknown(key string) error {
	if err := p.value(key, new(json.RawMessage)); err != nil || p.strict == nil || p.strict.unknown {
		return err
	}
	p.strict.unknown = true
	return p.pass(p.fail("report-unknown", key, "the key %q is not known; it is skipped", key))
}

// consistency compares the parts of the report with each other, as far as they could be read.
func (p *reader) consistency() {
	r, bad := p.report, p.strict.bad
	if bad["merkle_nodes"] {
		r.Nodes = nil
	}
	if bad["rng_state"] {
		r.RNGState = ""
	}
	if bad["state_hash"] {
		r.StateHash = ""
	}
	if bad["seed"] {
		r.Seed = ""
	}
	p.contradict(r.checkTree())
	timed := !bad["tick"] && !bad["phase"]
	if timed {
		p.contradict(r.checkExcerpt())
	}
	for i, o := range r.Excerpt {
		if w := r.Window; w != nil && (o.Tick < w.From || o.Tick > w.To) {
			p.contradict([]contradiction{{
				"report-order-window", orderPath(i), fmt.Sprintf("an order of tick %d, outside of the window from %d to %d", o.Tick, w.From, w.To),
			}})
		}
	}
	if _, given := p.strict.places["order_log_window"]; len(r.Excerpt) > 0 && !given {
		p.strict.take(&frame.Error{Rule: "report-no-window", Offset: -1, Msg: "orders without a window: that a tick has none does not show"})
	}
	p.worlds(timed && r.Seed != "")
}

// contradict passes the contradictions on.
func (p *reader) contradict(list []contradiction) {
	for _, c := range list {
		p.at = p.place(c.path)
		p.pass(p.fail(c.rule, c.path, "%s", c.text))
	}
}

// worlds checks the included archetypes, and compares them with the report if it has a state point.
func (p *reader) worlds(pointed bool) {
	r := p.report
	r.worlds = map[string]includedWorld{}
	size := uint64(0)
	for i, a := range r.Archetypes {
		path := fmt.Sprintf("diverged_archetypes[%d]", i)
		p.at = p.place(path)
		wrong := func(rule, format string, args ...any) { p.pass(p.fail(rule, path, format, args...)) }
		if _, twice := r.worlds[a.Label]; twice {
			wrong("report-label-twice", "%q is given twice", a.Label)
			continue
		}
		path += ".world"
		b, err := base64.StdEncoding.Strict().DecodeString(a.World)
		if err != nil || strings.ContainsAny(a.World, "\r\n") {
			wrong("report-base64", "it is not Base64 with padding")
			continue
		}
		if !p.strict.World(path, p.at, b) {
			continue
		}
		world, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), path)
		if err != nil {
			continue // World has the rule
		}
		info := world.Info()
		n, _ := world.ContentSize()
		world.Close()
		r.worlds[a.Label] = includedWorld{snap: b, info: info}
		switch size += n; {
		case !holdsOnly(info, a.Label):
			wrong("report-world", "it holds %d tables, expected the archetype %q alone", len(info.Tables), a.Label)
		case size > maxReportWorlds:
			wrong("report-limit", "all content has more than %d bytes when it is not compressed", maxReportWorlds)
			return
		case pointed:
			for _, c := range r.checkWorld(a.Label) {
				wrong(c.rule, "%s", c.text)
			}
		}
	}
}
