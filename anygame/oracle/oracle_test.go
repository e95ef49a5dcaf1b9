// Package oracle_test judges from outside whether desynctool reads any game. sessions.py plays games that nobody has
// seen and writes what programs of other people would leave of them, in a score of notations. The test asks
// triage about each session and compares its answer with what was planted.
package oracle_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// Thresholds in sessions of a hundred. Raise them as the tool learns.
const (
	minExact  = 95.0 // with a desync, and everything in the answer right
	maxWrong  = 1.0  // with a desync, and the answer names something else, or nothing
	maxAlarms = 0.0  // without a desync, and the answer names one
	minClean  = 70.0 // without a desync, and the answer is that there is none
)

// outcome is what one answer is worth.
type outcome int

const (
	exact  outcome = iota // everything that was planted, or in sync where nothing was
	partly                // nothing wrong, but less than the files show
	noise                 // no desync: only what differs in every dump is reported, as noise
	unread                // no answer
	wrong                 // a desync is not where the answer has it, or the answer is that there is none
	alarm                 // there is no desync
	outcomes
)

var columns = [outcomes]string{"exact", "partly", "noise", "unread", "wrong", "alarm"}

// TestSessions asks about the sessions of some seeds, and about sessions without a desync.
func TestSessions(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	program := os.Getenv("DESYNCTOOL_ORACLE_PROGRAM") // another build
	if program == "" {
		program = filepath.Join(dir, "desynctool.exe") // as one system wants it
		run(t, "go", "build", "-ldflags=-s -w", "-o", program, "../../cmd/desynctool")
	}
	first, err := strconv.Atoi(cmp.Or(os.Getenv("DESYNCTOOL_ORACLE_SEED"), "1"))
	if err != nil {
		t.Fatal(err)
	}
	var found []result
	for seed := first; seed < first+effort.Of(1, effort.Long(2, 10)); seed++ {
		found = append(found, judged(t, python, program, seed, filepath.Join(dir, strconv.Itoa(seed)))...)
	}
	if effort.Full() {
		found = append(found, judged(t, python, program, first, filepath.Join(dir, "clean"), "--clean", effort.Long("100", "500"))...)
	}
	found = append(found, judged(t, python, program, first, filepath.Join(dir, "rumours"), "--rumours", "--clean", strconv.Itoa(effort.Of(8, effort.Long(100, 500))))...)
	t.Log(table(found))
	for _, r := range found {
		if r.outcome > exact {
			t.Logf("%-6s %s: %s", columns[r.outcome], r.again, r.why)
		}
	}
	hold(t, found)
}

// hold fails the test where the thresholds are not reached.
func hold(t *testing.T, found []result) {
	desyncs, clean := share(found, false), share(found, true)
	if desyncs[exact] < minExact {
		t.Errorf("%.1f %% of the desyncs are found exactly, expected %.1f", desyncs[exact], minExact)
	}
	if desyncs[wrong] > maxWrong {
		t.Errorf("%.1f %% of the desyncs are found wrong, expected at most %.1f", desyncs[wrong], maxWrong)
	}
	if clean[alarm] > maxAlarms {
		t.Errorf("%.1f %% of the sessions in sync are false alarms, expected at most %.1f", clean[alarm], maxAlarms)
	}
	if clean[exact]+clean[noise] < minClean {
		t.Errorf("%.1f %% of the sessions in sync are found in sync, expected %.1f", clean[exact]+clean[noise], minClean)
	}
}

// share returns how many of a hundred sessions have each outcome.
func share(found []result, clean bool) (out [outcomes]float64) {
	n := 0.0
	for _, r := range found {
		if r.clean == clean {
			out[r.outcome]++
			n++
		}
	}
	for i := range out {
		out[i] *= 100 / max(n, 1)
	}
	return out
}

// table counts the outcomes of each notation.
func table(found []result) string {
	rows := map[string]*[outcomes]int{}
	for _, r := range found {
		name := r.notation
		if r.clean {
			name = "in sync: " + name
		}
		for _, key := range []string{name, map[bool]string{false: "~ desyncs", true: "~ in sync"}[r.clean]} {
			if rows[key] == nil {
				rows[key] = &[outcomes]int{}
			}
			rows[key][r.outcome]++
		}
	}
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions\n%-26s", len(found), "")
	for _, c := range columns {
		fmt.Fprintf(&b, "%7s", c)
	}
	for _, name := range names {
		fmt.Fprintf(&b, "\n%-26s", name)
		for _, n := range rows[name] {
			if n > 0 {
				fmt.Fprintf(&b, "%7d", n)
			} else {
				fmt.Fprintf(&b, "%7s", "")
			}
		}
	}
	return b.String()
}

// result is the outcome of one session.
type result struct {
	notation string
	clean    bool
	outcome  outcome
	why      string
	again    string // the commands that ask again
}

// judged writes the sessions of a seed and asks about each.
func judged(t *testing.T, python, program string, seed int, dir string, flags ...string) []result {
	run(t, python, append([]string{"-B", "sessions.py", strconv.Itoa(seed), dir}, flags...)...)
	truths, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil || len(truths) == 0 {
		t.Fatalf("no sessions in %s: %v", dir, err)
	}
	found := make([]result, len(truths))
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				found[i] = ask(t, program, truths[i])
				name := strings.TrimSuffix(filepath.Base(truths[i]), ".truth.json")
				again := append([]string{"sessions.py", strconv.Itoa(seed), "DIR", "--only", name}, flags...)
				found[i].again = strings.Join(again, " ")
			}
		})
	}
	for i := range truths {
		next <- i
	}
	close(next)
	wait.Wait()
	return found
}

// TestPages writes a page about each session, and asks again: the answer must be the same as without it, and the page must
// fit.
func TestPages(t *testing.T) {
	effort.Whole(t) // builds the program, which TestSessions does too
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "desynctool.exe")
	run(t, "go", "build", "-ldflags=-s -w", "-o", program, "../../cmd/desynctool")
	for seed := 2; seed < 2+effort.Long(1, 5); seed++ {
		sessions := filepath.Join(dir, strconv.Itoa(seed))
		run(t, python, "-B", "sessions.py", strconv.Itoa(seed), sessions)
		truths, err := filepath.Glob(filepath.Join(sessions, "*.truth.json"))
		if err != nil || len(truths) == 0 {
			t.Fatal(truths, err)
		}
		for i, truth := range truths {
			if session := strings.TrimSuffix(truth, ".truth.json"); effort.Full() || i%3 == 0 {
				without := triage(t, program, session)
				run(t, program, "describe", session, "-o", filepath.Join(session, "desynctool.toml"))
				if with := triage(t, program, session); with != without {
					t.Errorf("%s of seed %d: with its page\n%s\nwithout it\n%s", filepath.Base(session), seed, with, without)
				}
				if out, err := exec.Command(program, "describe", "--check", session).CombinedOutput(); err != nil && !bytes.Contains(out, []byte("DOES NOT FIT")) {
					t.Errorf("%s of seed %d: %v\n%s", filepath.Base(session), seed, err, out)
				}
			}
		}
	}
}

// triage returns what an answer has of when, where and in what peers differ.
func triage(t *testing.T, program, session string) string {
	out, _ := exec.Command(program, "triage", "--format", "json", session).Output() // the status is in it
	var got answer
	if err := json.Unmarshal(out, &got); err != nil {
		t.Errorf("%s: %v", session, err)
	}
	slices.SortFunc(got.Locus, func(a, b locus) int { return cmp.Compare(a.text, b.text) })
	text := describe(got)
	for _, l := range got.places() {
		text += "\n" + l.text
	}
	for _, p := range got.Peers {
		text += fmt.Sprintf("\npeer %s", p.Name)
	}
	for _, o := range got.Orders {
		text += fmt.Sprintf("\norder %s %s of tick %s by %s", o.Kind, o.Difference, show(o.Tick), o.Player)
	}
	return text
}

// run runs a program that must not fail.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// truth is what sessions.py planted.
type truth struct {
	Notation, Kind string
	InSync         bool `json:"in_sync"`
	Good           *uint64
	Bad            uint64
	Peer           string // that is alone with its values; empty with two peers
	Plant          string
	Planted        struct {
		Table, ID string
		Path      []string
	}
	Places  []place // all that differ at Bad
	Systems []string
	Ticks   []uint64 // of an input
	Player  uint64
	Noise   []string
}

// place is one scalar of a state: Path in the row ID of a table that goes by one of the names Tables. Without a path
// it is the whole row; without tables it is outside all tables. A row of a table without ids goes by its index, or by
// a text that it has: Also.
type place struct {
	Tables []string
	ID     string
	Also   []string
	Path   []string
}

// answer is what the documentation of triage promises of its JSON document.
type answer struct {
	Status string
	Error  string
	First  *struct {
		Tick       *uint64
		System     string
		Checkpoint struct {
			System, Scope string
			Values        map[string]map[string]any // by peer, of each sum
		}
		Bracket *struct {
			Good *uint64
			Bad  *uint64
		}
	} `json:"first_divergence"`
	Locus    []locus
	Compared struct {
		Entities []struct {
			Kind, Key, Name string
			Rows            []struct{ Archetype string } // that only one peer has
		}
	}
	Peers []struct {
		Name  string
		Group int
	}
	Orders []struct {
		Kind, Difference string
		Tick             *uint64
		Player           json.Number
	}
	Verdict []string
}

// locus is one place that the answer names.
type locus struct {
	Archetype, Key, Component, Field, Kind string

	text string // everything of it
}

func (l locus) name() string {
	return fmt.Sprintf("%s[%s].%s.%s %s", l.Archetype, l.Key, l.Component, l.Field, l.Kind)
}

func (l *locus) UnmarshalJSON(b []byte) error {
	type plain locus
	l.text = string(b)
	return json.Unmarshal(b, (*plain)(l))
}

// places returns all that the answer names: values, and rows that only one peer has. Names of entities are added.
func (a answer) places() []locus {
	list := slices.Clone(a.Locus)
	for _, e := range a.Compared.Entities {
		for _, row := range e.Rows {
			list = append(list, locus{Archetype: row.Archetype, Key: e.Key, Kind: "absent"})
		}
	}
	for i := range list {
		l := &list[i]
		for _, e := range a.Compared.Entities {
			if (l.Key == e.Key || within(l.Key, e.Key)) && (l.Archetype == e.Kind || within(l.Archetype, e.Kind)) {
				l.text += strconv.Quote(e.Name)
			}
		}
	}
	return list
}

// ask asks about a session.
func ask(t *testing.T, program, file string) result {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return result{}
	}
	var want truth
	if err := json.Unmarshal(text, &want); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	cmd := exec.Command(program, "triage", "--format", "json", strings.TrimSuffix(file, ".truth.json"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	r := result{notation: want.Notation, clean: want.InSync}
	var got answer
	if fault := json.Unmarshal(out, &got); fault != nil {
		r.outcome, r.why = unread, fmt.Sprintf("no JSON: %v, %v, %.200s", fault, err, stderr.String())
		if bytes.Contains(stderr.Bytes(), []byte("panic:")) {
			t.Errorf("%s: %s", file, stderr.Bytes())
		}
		return r
	}
	switch {
	case want.InSync:
		r.outcome, r.why = judgeClean(want, got, out)
	case want.Kind == "inputs":
		r.outcome, r.why = judgeInputs(want, got)
	default:
		r.outcome, r.why = judgeDesync(want, got)
	}
	return r
}

// equal are the words of an answer that finds no difference, but misses evidence.
var equal = regexp.MustCompile("No difference was found|orders are equal")

func judgeClean(want truth, got answer, doc []byte) (outcome, string) {
	switch {
	case got.Status == "in-sync":
		return exact, ""
	case got.Status == "inconclusive" && len(got.Verdict) > 0 && equal.MatchString(got.Verdict[0]):
		return partly, strings.Join(got.Verdict, " ")
	case got.Status != "diverged":
		return unread, got.Status + " " + got.Error
	case len(want.Noise) > 0 && bytes.Contains(doc, []byte("noise")) && !slices.ContainsFunc(got.places(), want.isReal):
		return noise, ""
	}
	return alarm, describe(got)
}

// isReal reports whether l is no noise.
func (want truth) isReal(l locus) bool {
	return !slices.ContainsFunc(append(parts(l.Component), parts(l.Field)...), func(f string) bool { return slices.Contains(want.Noise, f) })
}

// describe shows where an answer has the desync.
func describe(got answer) string {
	var b strings.Builder
	b.WriteString(got.Status)
	if f := got.First; f != nil && f.Bracket != nil {
		fmt.Fprintf(&b, " (%s, %s]", show(f.Bracket.Good), show(f.Bracket.Bad))
	}
	if f := got.First; f != nil {
		fmt.Fprintf(&b, " tick %s system %q", show(f.Tick), f.System)
	}
	for i, l := range got.places() {
		if i == 3 {
			fmt.Fprintf(&b, " and %d more", len(got.places())-i)
			break
		}
		b.WriteString(" " + l.name())
	}
	return b.String()
}

func show(n *uint64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatUint(*n, 10)
}

func judgeInputs(want truth, got answer) (outcome, string) {
	for _, o := range got.Orders {
		switch {
		case o.Difference == "":
			continue
		case o.Tick == nil || !slices.Contains(want.Ticks, *o.Tick):
			return wrong, fmt.Sprintf("%s %s of tick %s, expected %d", o.Difference, o.Kind, show(o.Tick), want.Ticks)
		case o.Player.String() != strconv.FormatUint(want.Player, 10):
			return partly, fmt.Sprintf("player %s, expected %d", o.Player, want.Player)
		}
		return exact, ""
	}
	if got.Status == "in-sync" {
		return wrong, "in sync"
	}
	return unread, describe(got) + " " + got.Error
}

// judgeDesync judges states and sums.
func judgeDesync(want truth, got answer) (outcome, string) {
	var bad, good *uint64
	if got.First != nil && got.First.Bracket != nil {
		bad, good = got.First.Bracket.Bad, got.First.Bracket.Good
	}
	switch {
	case got.Status == "in-sync":
		return wrong, "in sync, expected " + want.text()
	case got.Status != "diverged":
		return unread, got.Status + " " + got.Error
	case bad == nil:
		return partly, "no bracket, expected " + want.text() + ": " + describe(got)
	case *bad != want.Bad, good != nil && *good > *want.Good:
		return wrong, describe(got) + ", expected " + want.text()
	}
	rest, why := judgePlace(want, got)
	if rest != wrong && (good == nil || *good != *want.Good) {
		rest, why = partly, "the last good dump is missing. "+why
	}
	if rest == exact && want.Peer != "" && !alone(got, want.Peer) {
		rest, why = partly, "not only "+want.Peer+" is in its group"
	}
	if rest != exact {
		why += " " + describe(got) + ", expected " + want.text()
	}
	return rest, why
}

// text shows what was planted.
func (want truth) text() string {
	s := fmt.Sprintf("(%s, %d] %s", show(want.Good), want.Bad, strings.Join(want.Systems, " "))
	for _, p := range want.Places[:min(3, len(want.Places))] {
		s += fmt.Sprintf(" %s[%s].%s", strings.Join(p.Tables, "|"), p.ID, strings.Join(p.Path, "."))
	}
	return s
}

// judgePlace judges what the answer names at the right tick.
func judgePlace(want truth, got answer) (outcome, string) {
	if want.Kind == "sums" {
		c := got.First.Checkpoint
		found := []string{got.First.System, c.System, c.Scope}
		for _, sums := range c.Values {
			found = slices.AppendSeq(found, maps.Keys(sums))
		}
		if len(want.Systems) == 0 || slices.ContainsFunc(want.Systems, func(s string) bool { return slices.Contains(found, s) }) {
			return exact, ""
		}
		return partly, "another system."
	}
	list := got.places()
	if len(list) == 0 {
		return partly, "no place."
	}
	extra, other := 0, locus{}
	for i, l := range list {
		if !slices.ContainsFunc(want.Places, func(p place) bool { return p.is(l) }) {
			switch {
			case slices.ContainsFunc(want.Places, func(p place) bool { return p.inPath(l) }):
				return partly, l.name() + " is a row in a row."
			case i == 0:
				return wrong, "another place."
			}
			extra, other = extra+1, l
		}
	}
	if extra > 0 {
		return partly, fmt.Sprintf("%d places that do not differ, such as %s.", extra, other.name())
	}
	for _, p := range want.Places {
		if want.isPlanted(p) && !slices.ContainsFunc(list, p.is) {
			return partly, "not the planted place."
		}
	}
	return exact, ""
}

// isPlanted reports whether p is where the desync began.
func (want truth) isPlanted(p place) bool {
	switch want.Plant {
	case "rng":
		return len(p.Path) > 0 && p.Path[0] == "rng"
	case "missing":
		return len(p.Path) == 0
	}
	from := want.Planted
	return slices.Contains(p.Tables, from.Table) && p.ID == from.ID && slices.Equal(p.Path, from.Path)
}

// parts splits a label or a name of a field.
func parts(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("./[](){}:, \"'", r) })
}

// is reports whether l names p.
func (p place) is(l locus) bool {
	label, field := parts(l.Archetype), append(parts(l.Component), parts(l.Field)...)
	named := func(table string) bool { return slices.Contains(label, strings.ToLower(table)) }
	if len(p.Tables) > 0 && !slices.ContainsFunc(p.Tables, named) {
		return false
	}
	key := func(id string) bool {
		return strings.Trim(l.Key, `"`) == id || within(l.Key, id) || strings.Contains(l.text, strconv.Quote(id))
	}
	if len(p.Tables) > 0 && !key(p.ID) && !slices.ContainsFunc(p.Also, key) {
		return false
	}
	if len(p.Path) == 0 {
		return l.Kind == "absent" || l.Field == ""
	}
	if p.Path[0] == "rng" && len(p.Tables) == 0 {
		last := strings.ToLower(p.Path[len(p.Path)-1])
		return slices.Contains(field, "rng") || slices.Contains(label, "rng") || slices.Contains(field, last)
	}
	name := len(p.Path) - 1 // the last that is not an index
	for name > 0 && strings.Trim(p.Path[name], "0123456789") == "" {
		name--
	}
	all := append(label, field...)
	first := strings.ToLower(p.Path[0]) // in XML an element of a list is one of these
	inList := func() bool {
		return slices.Contains(all, first) || slices.Contains(all, strings.TrimSuffix(first, "s"))
	}
	if name > 0 && !inList() && len(field) > 1 {
		return false
	}
	if slices.Contains(field, strings.ToLower(p.Path[name])) {
		return true
	}
	return inList() && (name == 0 || l.Kind == "absent") // a row of a nested list
}

// inPath reports whether l names p as a field of one big row.
func (p place) inPath(l locus) bool {
	field := append(parts(l.Component), parts(l.Field)...)
	has := func(s string) bool { return slices.Contains(field, strings.ToLower(s)) }
	return slices.ContainsFunc(p.Tables, has) && has(p.ID) && (len(p.Path) == 0 || has(p.Path[0]))
}

// within reports whether an id is one part of a key.
func within(key, id string) bool {
	rest, ok := strings.CutPrefix(key, id)
	return ok && strings.ContainsAny(rest[:min(1, len(rest))], ",/:. [#-")
}

// alone reports whether a peer is the only one of its group.
func alone(got answer, peer string) bool {
	groups := map[int]int{}
	of := 0
	for _, p := range got.Peers {
		groups[p.Group]++
		if p.Name == peer || within(p.Name, peer) { // host.json
			of = p.Group
		}
	}
	return groups[of] == 1
}
