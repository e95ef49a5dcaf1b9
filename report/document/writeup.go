package document

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// A write-up is a text about a bug: Markdown that begins with a header of "name: value" lines between two lines of
// three dashes. The header has lines "fingerprint:", with a strict fingerprint, and "fingerprint_LEVEL:", with a
// level's, as many of each as there are reports of the bug that look different. It may have "title:"; without it the
// first heading is the title.

// Limits of write-ups.
const (
	maxWriteUps    = 10_000
	maxWriteUpHead = 64 << 10
)

// WriteUp starts the write-up of a report: the header by which later reports find it, and the known facts.
func (r *Report) WriteUp(w io.Writer) error {
	title := "What happened"
	if len(r.Verdict) > 0 {
		title = strings.TrimSuffix(r.Verdict[0], ".")
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "---\ntitle: %s\n", header(title))
	if r.Fingerprint != "" {
		fmt.Fprintf(&out, "fingerprint: %s\n", header(r.Fingerprint))
	}
	for _, f := range r.Fingerprints {
		if slices.Contains(Levels(), f.Level) {
			fmt.Fprintf(&out, "fingerprint_%s: %s\n", f.Level, header(f.Digest))
		}
	}
	out.WriteString("---\n\n")
	if err := r.Markdown(&out); err != nil {
		return err
	}
	out.WriteString("\n## Cause\n\n## Fix\n")
	_, err := w.Write(out.Bytes())
	return err
}

// header returns a value of a header: a word of letters and digits unchanged, anything else between quotation marks as
// YAML and JSON have them.
func header(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') }) < 0 {
		return s
	}
	quoted, err := json.Marshal(strings.Join(strings.Fields(Safe(s)), " "))
	if err != nil { // of a text none
		return `""`
	}
	return string(quoted)
}

// value returns what header was given; a person may have written it with other quotation marks, or
// without.
func value(s string) (text string) {
	if json.Unmarshal([]byte(s), &text) == nil {
		return text
	}
	return strings.Trim(s, `"'`)
}

// SameBy returns the levels that can decide whether a divergence is known, the default first.
func SameBy() []Level { return []Level{LevelStrict, LevelField, LevelComponent, LevelArchetype} }

// FindSeen returns the write-ups in a folder, and in folders in it, that have a fingerprint of the report, the ones
// with the most in common first. The same kind of divergence alone does not count. A write-up is Known if it has the
// fingerprint of the level, or the strict one.
func (r *Report) FindSeen(folder fs.FS, by Level) (seen []SeenBefore, err error) {
	if len(r.Fingerprints) == 0 {
		return nil, nil
	}
	n := 0
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return fs.SkipDir
		}
		if d.IsDir() || !d.Type().IsRegular() || path.Ext(name) != ".md" {
			return nil
		}
		if n++; n > maxWriteUps {
			return fmt.Errorf("more than %d write-ups", maxWriteUps)
		}
		f, err := folder.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		h, err := readHead(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		exact := r.Fingerprint != "" && slices.Contains(h.prints, r.Fingerprint)
		s := SeenBefore{Title: cmp.Or(h.title, name), File: name, Exact: exact, Known: exact}
		for _, f := range r.Fingerprints {
			if f.Level != LevelKind && slices.Contains(h.levels[f.Level], f.Digest) {
				s.Level = f.Level // the last is the finest
				s.Known = s.Known || f.Level == by
			}
		}
		if s.Exact || s.Level != "" {
			seen = append(seen, s)
		}
		return nil
	})
	much := func(s SeenBefore) string {
		return fmt.Sprintf("%t %t %02d", s.Exact, s.Known, 1+slices.Index(Levels(), s.Level))
	}
	lists.SortStable(seen, func(a, b SeenBefore) int {
		return cmp.Or(cmp.Compare(much(b), much(a)), cmp.Compare(a.File, b.File))
	})
	return seen, err
}

// writeUpHead is the header of a write-up.
type writeUpHead struct {
	title  string
	prints []string
	levels map[Level][]string
}

// readHead reads the header of a write-up; one without a header has no fingerprints.
func readHead(r io.Reader) (h writeUpHead, err error) {
	in := bufio.NewScanner(io.LimitReader(r, maxWriteUpHead))
	in.Buffer(nil, maxWriteUpHead+1)
	header := true
	for n := 0; in.Scan(); n++ {
		line := strings.TrimRight(in.Text(), "\r ")
		switch {
		case n == 0 && strings.TrimPrefix(line, "\ufeff") != "---":
			return h, nil
		case n == 0:
			continue
		case line == "---":
			header = false
			if h.title != "" {
				return h, nil
			}
			continue
		case strings.HasPrefix(line, "# "):
			h.title = cmp.Or(h.title, line[2:])
			return h, nil
		case !header:
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		switch text := value(strings.TrimSpace(rest)); strings.TrimSpace(name) {
		case "title":
			h.title = text
		case "fingerprint":
			h.prints = append(h.prints, text)
		default:
			level, ok := strings.CutPrefix(strings.TrimSpace(name), "fingerprint_")
			if ok && slices.Contains(Levels(), Level(level)) {
				if h.levels == nil {
					h.levels = map[Level][]string{}
				}
				h.levels[Level(level)] = append(h.levels[Level(level)], text)
			}
		}
	}
	return h, in.Err()
}
