package bundle

import (
	"bytes"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/document"
)

// The sources for when a match was played, the surest first.
var playedBy = [...]string{"the header of the recording", "the names of the files", "the lines of the logs", "the entries of the archive"}

const (
	byHeader = iota
	byName
	byLines
	byEntries
)

// Times outside of these years come from clocks that were not set, and from archives without times. Times that are
// further apart than playedApart contradict each other: they do not belong to one match.
const (
	firstYear   = 2000
	lastYear    = 2100
	playedApart = 3 * 24 * time.Hour
)

// Played returns when the match was played, nil if that is not known. The surest of these decides: the time in the
// header of a recording, a date and time in the names of its files, dates in the lines of its logs; else the last
// change of the entries in the archive that the files came in. The times from the game must be within three days of
// each other, and so must the entries' times; else it returns nil. The times of files on the disk are ignored.
func (s *Session) Played() *document.Played {
	var found [len(playedBy)]period
	for _, f := range s.files {
		if f.Err != nil || f.other || !(f.isEvidence() || f.ofOnePeer() || f.ownLog) || s.tree.Shown(f.Path) != "" {
			continue
		}
		if f.read != nil {
			found[byHeader].add(f.read.Recorded)
			found[byHeader].add(statedTime(f.read.Header.Params))
		}
		if f.opened != nil {
			for _, t := range f.opened.ours {
				found[byHeader].add(statedTime(t.Header.Meta))
			}
		}
		found[byName].add(timeInName(filepath.Base(f.Path)))
		if f.ownLog || f.read != nil || f.opened != nil { // it was read
			s.timesInLines(f, &found[byLines])
		}
		found[byEntries].add(s.tree.Modified(f.Path))
	}
	for _, p := range s.places {
		if p.set != nil {
			for _, e := range p.set.Entries {
				found[byEntries].add(s.tree.Modified(filepath.Join(e.Dir, e.Base)))
			}
		}
	}
	var said period // by the game
	best := -1
	for i, p := range found {
		if i == byEntries && best >= 0 || p.first.IsZero() {
			continue
		}
		if best < 0 {
			best = i
		}
		said.add(p.first)
		said.add(p.last)
	}
	if best < 0 || said.last.Sub(said.first) > playedApart {
		return nil
	}
	return &document.Played{First: found[best].first.Format(time.RFC3339), Last: found[best].last.Format(time.RFC3339), By: playedBy[best]}
}

// period is from the first of some times to the last; zero without any.
type period struct{ first, last time.Time }

func (p *period) add(t time.Time) {
	t = t.UTC()
	if t.Year() < firstYear || t.Year() >= lastYear {
		return
	}
	t = t.Truncate(time.Second)
	if p.first.IsZero() || t.Before(p.first) {
		p.first = t
	}
	if t.After(p.last) {
		p.last = t
	}
}

// RecordedFact is the name of the fact when one of our logs or traces was begun.
const RecordedFact = "recorded"

// statedTime returns the time that the header of one of our files states.
func statedTime(meta map[string]string) time.Time {
	t, err := time.Parse(time.RFC3339, meta[RecordedFact])
	if err != nil {
		return time.Time{}
	}
	return t
}

// named matches a date and a time in the name of a file: 20261120_085851, 2026-11-20T08.55.14, 2023-11-05T181504Z.
var named = lazyregexp.New(`(?:^|\D)(20\d\d)[-_]?([01]\d)[-_]?([0-3]\d)[-_ T]([0-2]\d)[.:_-]?([0-5]\d)[.:_-]?([0-5]\d)(?:\D|$)`)

// timeInName returns the time that the name of a file has, zero without one.
func timeInName(name string) time.Time {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}
	}
	t, err := time.Parse("20060102150405", strings.Join(m[1:], ""))
	if err != nil {
		return time.Time{}
	}
	return t
}

// stampedPart is how many bytes at the beginning and at the end of a log are looked at for dates, and stampedLog is the
// largest log whose end is read for that: it may have to be unpacked up to there.
const (
	stampedPart = 4 << 10
	stampedLog  = 16 << 20
)

// timesInLines adds the first and the last date that lines of a text begin with.
func (s *Session) timesInLines(f *File, to *period) {
	file, err := s.tree.Open(f.Path)
	if err != nil {
		return
	}
	defer file.Close()
	part := make([]byte, stampedPart)
	n, err := file.ReadAt(part, 0)
	if err != nil && err != io.EOF || compression.Packing(part[:n]) != "" || !gamelog.Text(part[:n]) {
		return
	}
	var own period
	for line := range bytes.Lines(part[:n]) {
		if own.add(stamp(line)); own != (period{}) {
			break
		}
	}
	if stat, err := file.Stat(); own != (period{}) && err == nil && stat.Size() <= stampedLog {
		n, _ := file.ReadAt(part, max(0, stat.Size()-stampedPart))
		for line := range bytes.Lines(part[:n]) {
			own.add(stamp(line))
		}
	}
	to.add(own.first)
	to.add(own.last)
}

// stamp returns the date and time that a line begins with, perhaps after a bracket or the seconds since the
// start; zero without them.
func stamp(line []byte) time.Time {
	line = bytes.TrimLeft(line, " \t[(")
	if i := bytes.IndexByte(line[:min(len(line), 16)], ' '); i > 0 && bytes.IndexByte(line[:i], '.') > 0 {
		if _, err := strconv.ParseFloat(string(line[:i]), 64); err == nil {
			line = line[i+1:]
		}
	}
	const plain = "2006-01-02 15:04:05"
	if len(line) < len(plain) || line[4] != '-' || line[10] != ' ' && line[10] != 'T' {
		return time.Time{}
	}
	text := string(line[:10]) + " " + string(line[11:len(plain)])
	t, err := time.Parse(plain, text)
	if err != nil {
		return time.Time{}
	}
	rest := bytes.TrimLeft(line[len(plain):min(len(line), len(plain)+20)], ".,0123456789")
	if len(rest) >= 6 && (rest[0] == '+' || rest[0] == '-') {
		if zoned, err := time.Parse(plain+"Z07:00", text+string(rest[:6])); err == nil {
			t = zoned
		}
	}
	return t
}
