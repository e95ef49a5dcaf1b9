package golden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Source is an order log to record.
type Source struct {
	Tree files.Tree
	Path string
	// Usual reports whether all such logs have the same name, so that the name does not identify the session.
	Usual bool
}

// RecordOptions configures the recording of logs.
type RecordOptions struct {
	Play            Play
	Platform, Build string // as in Options
	// Name is the name of the only source, "" to name it after its file.
	Name string
	// Every keeps the hashes of the state points that it divides; 0 is the value of the kept replay, else 1.
	Every uint64
	// Systems keeps a hash after each system; nil is the value of the kept replay, else false.
	Systems *bool
	// Update replaces kept replays that differ.
	Update bool
	// Workers and Progress are as in Options; progress counts thousandths of logs.
	Workers  int
	Progress func(done, total int64)
}

// RecordResult is the result for a log.
type RecordResult string

// Results of recording.
const (
	Recorded  RecordResult = "recorded"  // it was not kept before
	Unchanged RecordResult = "unchanged" // the kept files are the same, byte for byte
	Updated   RecordResult = "updated"   // it replaces what was kept
	Differs   RecordResult = "differs"   // it differs from the kept one, which stays
	Duplicate RecordResult = "duplicate" // the same bytes as another log, which is recorded
	Unplayed  RecordResult = "not-played"
	Damaged   RecordResult = "unusable" // its kept files are damaged, and stay
)

// Recording is the result for one log.
type Recording struct {
	Replay string       `json:"replay"`
	Log    string       `json:"log"` // name of its file
	Result RecordResult `json:"result"`
	Golden *Digest      `json:"golden"` // of the trace that is kept now; nil if there is none
	Ticks  uint64       `json:"ticks"`
	// First is where the replay differs from the kept one.
	First *First `json:"first,omitempty"`
	// Departs is where the replay differs from the recording of the log's own peer.
	Departs string `json:"departs,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Recordings are the results for logs.
type Recordings struct {
	Platform string `json:"platform"`
	Build
	Interrupted bool        `json:"interrupted,omitempty"`
	Replays     []Recording `json:"replays"` // by name
	// Lost lists places where there may be logs that could not be read.
	Lost []string `json:"lost,omitempty"`
}

func (r *Recordings) any(results ...RecordResult) bool {
	return slices.ContainsFunc(r.Replays, func(one Recording) bool { return slices.Contains(results, one.Result) })
}

// Diverged reports whether a replay differs from the kept one.
func (r *Recordings) Diverged() bool { return r.any(Differs) }

// Failed reports whether something that is kept is damaged.
func (r *Recordings) Failed() bool { return r.any(Damaged) }

// Incomplete reports whether a log was not played.
func (r *Recordings) Incomplete() bool { return r.Interrupted || r.any(Unplayed) || len(r.Lost) > 0 }

// planned is a log that is to be recorded.
type planned struct {
	Source
	file   string // name of the log in the replay's folder
	digest Digest
	name   string
	inside bool   // it is there already
	twin   string // name of another log of the same bytes, "" if there is none
	have   *Entry // nil if there is none of that name
	err    error
}

// Record plays logs and keeps their traces in the folder, which is created if necessary. For a log that is already
// kept, nothing is written if its trace is the same.
func (f *Folder) Record(ctx context.Context, sources []Source, opts RecordOptions) (*Recordings, error) {
	plan := f.plan(sources, opts.Name)
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	if err := f.make(); err != nil {
		return nil, errors.Join(err, remove())
	}
	r := &Recordings{Platform: opts.Platform, Replays: make([]Recording, len(plan))}
	if r.Platform == "" {
		r.Platform = ThisPlatform()
	}
	p := newProgress(opts.Progress)
	p.total = int64(len(plan)) * logParts
	var once sync.Mutex
	parallel.Each(opts.Workers, len(plan), func(i int) {
		report, end := p.part(logParts)
		defer end()
		w := &recording{Folder: f, RecordOptions: opts, planned: &plan[i], ctx: ctx, platform: r.Platform, place: filepath.Join(dir, strconv.Itoa(i)), report: report}
		r.Replays[i] = w.record()
		once.Lock()
		defer once.Unlock()
		if b := w.build; b.Game != "" || b.Build != "" || b.Facts != nil {
			r.Build = b
		}
	})
	r.Interrupted = slices.ContainsFunc(r.Replays, func(one Recording) bool { return one.Why == Interrupted })
	lists.SortStable(r.Replays, func(a, b Recording) int { return strings.Compare(a.Replay, b.Replay) })
	return r, remove()
}

// logParts is the number of parts into which progress divides a log.
const logParts = 1000

// make makes the folder, and sets it up so that git does not change line ends in it.
func (f *Folder) make() error {
	if err := os.MkdirAll(f.Path, 0o777); err != nil {
		return err
	}
	attributes := filepath.Join(f.Path, ".gitattributes")
	if _, err := os.Stat(attributes); err == nil {
		return nil
	}
	return files.Replace(attributes, func(w *os.File) error {
		_, err := io.WriteString(w, "* -text\n")
		return err
	})
}

// plan names the logs. One that is kept already, by its content, keeps its name.
func (f *Folder) plan(sources []Source, name string) []planned {
	plan := make([]planned, len(sources))
	suggested := suggest(sources)
	for i, s := range sources {
		p := planned{Source: s, file: filepath.Base(s.Path), name: suggested[i]}
		if !validLog(p.file) {
			p.file = NameOf(p.file)
		}
		p.digest, p.err = digestOf(s.Tree, s.Path)
		if own := f.folderOf(s.Path); own != "" {
			p.name, p.inside = own, true
		} else if known := f.holds(p.digest); known != nil && p.err == nil && name == "" {
			p.name, p.file = known.Name, known.Manifest.Log
		} else if name != "" {
			p.name = name
		}
		p.have = f.entry(p.name)
		if p.have != nil && !errors.Is(p.have.Err, errNoManifest) {
			p.name = p.have.Name
		} else {
			p.have = nil
		}
		for _, other := range plan[:i] {
			switch {
			case p.err != nil || other.err != nil || other.twin != "":
			case other.digest == p.digest && !p.inside:
				p.twin = other.name
			case strings.EqualFold(other.name, p.name):
				p.err = fmt.Errorf("it would have the name of %s; record one of them with another --name", prose.Path(other.Path))
			}
		}
		plan[i] = p
	}
	return plan
}

// folderOf returns the replay whose folder contains a log, "" if the log is elsewhere.
func (f *Folder) folderOf(path string) string {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return ""
	}
	own, err := filepath.Abs(f.Path)
	if _, statErr := os.Stat(path); err != nil || statErr != nil || filepath.Dir(dir) != own || !ValidName(filepath.Base(dir)) || !validLog(filepath.Base(path)) {
		return ""
	}
	return filepath.Base(dir)
}

// holds returns the entry of a log, nil if there is none.
func (f *Folder) holds(log Digest) *Entry {
	i := slices.IndexFunc(f.Entries, func(e Entry) bool { return e.Manifest != nil && e.Manifest.LogDigest == log })
	if i < 0 {
		return nil
	}
	return &f.Entries[i]
}

// suggest names logs after their files, or after their folders if the files have the name that all such logs have; by
// as many folders as distinguish them.
func suggest(sources []Source) []string {
	parts := make([][]string, len(sources)) // of paths, the last first
	depth := make([]int, len(sources))
	for i, s := range sources {
		path := filepath.ToSlash(filepath.Clean(s.Path))
		if abs, err := filepath.Abs(s.Path); err == nil {
			path = filepath.ToSlash(abs)
		}
		p := strings.Split(strings.Trim(path, "/"), "/")
		slices.Reverse(p)
		base := compression.PlainName(p[0])
		p[0] = strings.TrimSuffix(base, filepath.Ext(base))
		if s.Usual && len(p) > 1 {
			p = p[1:]
		}
		parts[i], depth[i] = p, 1
	}
	names := make([]string, len(sources))
	for {
		seen, clash := map[string][]int{}, false
		for i, p := range parts {
			own := slices.Clone(p[:depth[i]])
			slices.Reverse(own)
			names[i] = NameOf(strings.Join(own, "-"))
			key := strings.ToLower(names[i])
			seen[key] = append(seen[key], i)
		}
		for _, list := range seen {
			for _, i := range list {
				if len(list) > 1 && depth[i] < len(parts[i]) {
					depth[i]++
					clash = true
				}
			}
		}
		if !clash {
			return names
		}
	}
}

// recording is one log on its way.
type recording struct {
	*Folder
	RecordOptions
	*planned
	ctx      context.Context
	platform string
	place    string // of temporary traces, without an ending
	report   func(done, total int64)
	build    Build
}

func (w *recording) record() Recording {
	out := Recording{Replay: w.name, Log: w.file}
	defer func() {
		for _, name := range []string{goldenFile, firstFile} {
			os.Remove(w.place + name)
		}
	}()
	err := w.into(&out)
	bad := unusable{}
	switch {
	case err == nil:
	case w.ctx.Err() != nil:
		out.Result, out.Why = Unplayed, Interrupted
	case errors.As(err, &bad):
		out.Result, out.Why = Damaged, w.plain(err).Error()
	default:
		out.Result, out.Why = Unplayed, w.plain(err).Error()
	}
	return out
}

func (w *recording) into(out *Recording) error {
	if err := errors.Join(w.err, w.ctx.Err()); err != nil {
		return err
	}
	if !ValidName(w.name) {
		return fmt.Errorf("%q: a replay is called by letters, digits and . _ -", w.name)
	}
	if w.twin != "" {
		out.Result, out.Why = Duplicate, "the same log as "+w.twin
		return nil
	}
	m := &Manifest{Log: w.file, LogDigest: w.digest, Every: max(w.Every, 1), Platform: w.platform}
	m.Systems = w.Systems != nil && *w.Systems
	var old *Manifest
	if w.have != nil {
		old = w.have.Manifest
		if old != nil {
			out.Golden, out.Ticks = &old.Trace, old.Ticks()
		}
		if old == nil && !w.Update {
			return unusable{fmt.Errorf("%w; --update records it again", w.have.Err)}
		}
	}
	if old != nil && old.LogDigest == w.digest {
		if w.Every == 0 {
			m.Every = old.Every
		}
		if w.Systems == nil {
			m.Systems = old.Systems
		}
	}
	if why := w.other(old, m); why != "" && !w.Update {
		out.Result, out.Why = Differs, why
		return nil
	}
	r, err := run(w.ctx, w.Play, Job{Tree: w.Tree, Log: w.Source.Path, Systems: m.Systems, Recorded: true, Progress: w.report}, m.Every, w.place+firstFile)
	if err != nil {
		return err
	}
	w.build, out.Departs = r.Build, r.Recorded
	if len(r.Lost) > 0 {
		return errors.New(r.Lost[0])
	}
	if r.To <= r.from {
		return errors.New("it has no ticks")
	}
	m.Trace, m.From, m.To, m.Start, m.Build = r.trace, r.from, r.To, r.start, r.Build
	if w.RecordOptions.Build != "" {
		m.Build.Build = w.RecordOptions.Build
	}
	out.Result = Recorded
	if w.have != nil {
		if same, err := w.same(old, m, r, out); err != nil || same {
			return err
		}
		if out.Result = Updated; !w.Update {
			out.Result = Differs
			return nil
		}
	}
	out.Golden, out.Ticks = &m.Trace, m.Ticks()
	return w.write(m, old, r)
}

// other reports how the kept replay is of another kind than the one to record, "" if it is of the same kind.
func (w *recording) other(old, m *Manifest) string {
	switch {
	case old == nil:
		return ""
	case old.LogDigest != m.LogDigest:
		return "another log is kept under this name; --update replaces it, --name keeps both"
	case old.Every != m.Every:
		return fmt.Sprintf("it is kept with the hashes of %s, not of %s; --update records it again", everyTick(old.Every), everyTick(m.Every))
	case old.Systems != m.Systems:
		if old.Systems {
			return "it is kept with a hash after each system, not without; --update records it again"
		}
		return "it is kept without a hash after each system, not with; --update records it again"
	}
	return ""
}

func everyTick(n uint64) string {
	if n == 1 {
		return "every tick"
	}
	return fmt.Sprintf("every %d ticks", n)
}

// same reports whether what is kept is what was played. Out has what differs.
func (w *recording) same(old, m *Manifest, r *replayed, out *Recording) (bool, error) {
	if old == nil {
		out.Why = w.have.Err.Error()
		return false, nil
	}
	if why := w.other(old, m); why != "" {
		out.Why, _, _ = strings.Cut(why, "; ")
		return false, nil
	}
	if err := w.Folder.kept(w.name, old, w.place+goldenFile); err != nil {
		if !w.Update {
			return false, unusable{fmt.Errorf("%w; --update records it again", err)}
		}
		out.Why = err.Error()
		return false, nil
	}
	start := old.Start == nil && m.Start == nil || old.Start != nil && m.Start != nil && *old.Start == *m.Start
	if old.Trace == m.Trace && start && old.From == m.From && old.To == m.To {
		if _, err := os.Stat(w.path(w.name, old.Log)); err == nil {
			out.Result = Unchanged
			return true, nil
		}
		if !w.Update {
			return false, unusable{fmt.Errorf("%s is missing; --update puts it back", old.Log)}
		}
		out.Why = old.Log + " is missing"
		return false, nil
	}
	var err error
	out.First, err = differ(w.place+goldenFile, r.path, old.From, [2]*merkle.Short{old.Start, m.Start})
	if errors.Is(err, errNoDifference) {
		out.Why, err = err.Error(), nil
	}
	return false, err
}

// write keeps a replay. The manifest comes last: a replay that has one is complete.
func (w *recording) write(m, old *Manifest, r *replayed) error {
	if err := os.MkdirAll(filepath.Join(w.Folder.Path, w.name), 0o777); err != nil {
		return unusable{err}
	}
	if !w.inside {
		if err := w.copyLog(); err != nil {
			return unusable{err}
		}
	}
	err := files.Replace(w.path(w.name, TraceName), func(f *os.File) error { return compress(f, r.path) })
	if err == nil {
		err = files.Replace(w.path(w.name, ManifestName), func(f *os.File) error {
			_, err := f.Write(m.Format())
			return err
		})
	}
	if err != nil {
		return unusable{err}
	}
	if old != nil && old.Log != m.Log {
		if err := os.Remove(w.path(w.name, old.Log)); err != nil && !os.IsNotExist(err) {
			return unusable{err}
		}
	}
	return nil
}

func (w *recording) copyLog() error {
	in, err := w.Tree.Open(w.Source.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	return files.Replace(w.path(w.name, w.file), func(f *os.File) error {
		_, err := io.Copy(f, in)
		return err
	})
}
