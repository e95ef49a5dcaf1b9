package notation

import (
	"bytes"
	"strconv"
)

// Settled returns a notation that reads of several records of one tick the one that counts, if any of some samples is the
// record of a game that predicts; nil otherwise. Such a game plays ticks again, so that the records go back to ever
// later ticks, or they are marked: "predicted": true. Records are documents, or the maps of a list. A single record
// always counts.
func Settled(n *Notation, samples ...[]byte) *Notation {
	for _, sample := range samples {
		if settled(n, sample) != nil {
			out := *n
			out.Parse = func(text []byte, to Sink) error {
				kept := settled(n, text)
				if kept == nil {
					return n.Parse(text, to)
				}
				return n.Parse(text, &filter{Sink: to, kept: kept})
			}
			return &out
		}
	}
	return nil
}

// settled returns which records of a text count, by their places; nil if they are not those of a game that predicts.
func settled(n *Notation, text []byte) (kept map[int]bool) {
	records := &recorder{}
	_ = n.Parse(text, records) // records before a fault
	var ticked []block
	predicts := false
	for i, one := range records.list {
		if one.begin = i; one.tick != nil {
			ticked = append(ticked, one)
			predicts = predicts || one.stage == predicted
		}
	}
	if len(ticked) < 2 || !predicts && !goesBackLater(ticked) {
		return nil
	}
	kept = map[int]bool{}
	for i, one := range records.list {
		kept[i] = one.tick == nil
	}
	for _, one := range counting(ticked, false) {
		kept[one.begin] = true
	}
	return kept
}

// goesBackLater reports whether records have a tick each, other than the one before, and go back to ever later ones.
func goesBackLater(list []block) bool {
	ticks := replays{last: -1}
	for _, one := range list {
		n, err := strconv.ParseInt(string(one.tick), 10, 64)
		if err != nil || n == ticks.last {
			return false
		}
		ticks.next(n)
	}
	return ticks.later()
}

// recorder is a Sink that finds the tick and the stage of each record.
type recorder struct {
	list  []block
	depth int
	base  int // the depth of the members of records
	name  []byte
}

func (r *recorder) BeginMap(int) {
	if r.depth == 0 || r.depth == 1 && r.base == 2 {
		if r.depth == 0 {
			r.base = 1
		}
		r.list = append(r.list, block{})
	}
	r.depth++
	r.name = nil
}

func (r *recorder) BeginList(int) {
	if r.depth == 0 {
		r.base = 2
	}
	r.depth++
	r.name = nil
}

func (r *recorder) End(int)          { r.depth-- }
func (r *recorder) Item(name []byte) { r.Name(name) }
func (r *recorder) Name(name []byte) {
	if r.name = nil; r.depth == r.base {
		r.name = append(r.name, name...)
	}
}

func (r *recorder) Scalar(_ Kind, text []byte) {
	if len(r.name) == 0 || len(r.list) == 0 {
		return
	}
	one := &r.list[len(r.list)-1]
	switch stage := stageOf(apart(r.name)); {
	case one.tick == nil && isTick(r.name) && isNumber(text) && len(bytes.Trim(text, "0123456789")) == 0:
		one.tick = bytes.Clone(text)
	case stage != noStage:
		switch string(bytes.ToLower(bytes.Trim(text, `"`))) {
		case "true", "1", "yes":
			one.stage = stage
		case "false", "0", "no":
			one.stage = confirmed + predicted - stage
		}
	case one.stage == noStage && len(text) <= maxWord && isStageName(r.name):
		one.stage = stageOf(apart(text))
	}
	r.name = nil
}

// isStageName reports whether a member has the stage of a record as a text: {"phase": "predicted"}.
func isStageName(name []byte) bool {
	for _, word := range [...]string{"stage", "phase", "status", "kind", "type", "pass"} {
		if string(bytes.ToLower(name)) == word {
			return true
		}
	}
	return false
}

// apart returns a name with blanks between its words: isPredicted, is_predicted.
func apart(name []byte) []byte {
	out := make([]byte, 0, len(name)+2)
	for i, c := range name {
		switch {
		case !isLetterByte(c):
			c = ' '
		case c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a':
			out = append(out, ' ')
		}
		out = append(out, c)
	}
	return out
}

// filter is a Sink that passes on the records that count.
type filter struct {
	Sink
	kept    map[int]bool
	records int
	depth   int
	base    int  // the depth of records
	over    bool // within a record that does not count
}

func (f *filter) BeginMap(at int) {
	if f.depth == 0 {
		f.base = 0
	}
	if f.depth == f.base && !f.over {
		f.over = !f.kept[f.records]
		f.records++
	}
	if f.depth++; !f.over {
		f.Sink.BeginMap(at)
	}
}

func (f *filter) BeginList(at int) {
	if f.depth == 0 {
		f.base = 1
	}
	if f.depth++; !f.over {
		f.Sink.BeginList(at)
	}
}

func (f *filter) End(at int) {
	if f.depth--; !f.over {
		f.Sink.End(at)
	}
	f.over = f.over && f.depth > f.base
}

func (f *filter) Name(name []byte) {
	if !f.over {
		f.Sink.Name(name)
	}
}

func (f *filter) Item(name []byte) {
	if !f.over {
		f.Sink.Item(name)
	}
}

func (f *filter) Scalar(kind Kind, text []byte) {
	if !f.over {
		f.Sink.Scalar(kind, text)
	}
}
