package compare

import (
	"cmp"
	"errors"
	"io"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// readLog is the content of one order log, read once for all purposes.
type readLog struct {
	*logSummary
	name   string // of its peer
	file   *bundle.File
	hashes *bisect.Hashes // for one of our own logs, else nil
	source orderlog.Source
	again  func() (orderlog.Source, io.Closer, error)
	heard  bundle.LogRead // what its game wrote into it of desyncs
	ended  bool
	err    error // that the log ended with, nil at a clean end
}

// newReadLog returns the reader of an opened log.
func newReadLog(s *bundle.Session, f *bundle.File, source orderlog.Source) *readLog {
	r := &readLog{logSummary: newSummary(source, len(s.LogFiles())), file: f, source: source}
	r.again = func() (orderlog.Source, io.Closer, error) { return s.OpenLog(f) }
	if f.Format.Native {
		r.hashes = bisect.NewHashes(source.Header())
	}
	return r
}

// Header implements orderlog.Source.
func (r *readLog) Header() orderlog.Header { return r.source.Header() }

// Next implements orderlog.Source. What it returns has been taken note of.
func (r *readLog) Next() (orderlog.Record, error) {
	rec, err := r.source.Next()
	if err != nil {
		if r.ended = true; err != io.EOF {
			r.err = err
		}
		r.header = r.source.Header()
		r.file.WasRead(bundle.LogRead{
			Said: r.heard.Said, Header: r.header, Foreign: r.hashes == nil, Session: r.dialect.Session, Recorded: r.dialect.Recorded, Err: r.err,
			Ticks:  document.Coverage{What: verdict.CoversOrders, First: r.span.First, Last: r.span.Last, Count: r.span.Count},
			Hashes: document.Coverage{What: verdict.CoversHashes, First: r.hashed.First, Last: r.hashed.Last, Count: r.hashed.Count},
		})
		return rec, err
	}
	r.add(&rec)
	r.heard.Hear(r.file.Path, &rec, r.dialect)
	if r.hashes != nil {
		r.hashes.Add(&rec)
	}
	return rec, nil
}

// rest reads the rest of the log.
func (r *readLog) rest() {
	for !r.ended {
		if _, err := r.Next(); err != nil {
			return
		}
	}
}

// foreignLog is a readLog of an engine's log.
type foreignLog struct{ *readLog }

// Dialect implements orderlog.Foreign.
func (l foreignLog) Dialect() orderlog.Dialect { return l.source.(orderlog.Foreign).Dialect() }

// readLogs reads all order logs once, compares them where there are two or more, and keeps their contents. An error
// reports that they belong to different games.
func (g *gatherer) readLogs() error {
	logs, err := g.s.Logs(g.advance(g.s.LogBytes()))
	if errors.As(err, new(*bundle.AloneError)) {
		return g.readAlone()
	}
	if err != nil {
		g.e.Lost = append(g.e.Lost, err.Error())
		return g.readAlone()
	}
	defer logs.Close()
	list := make([]orderlog.Named, len(logs.Named))
	for i, n := range logs.Named {
		r := newReadLog(g.s, logs.Files[i], n.Source)
		r.name = n.Name
		g.logs = append(g.logs, r)
		list[i] = orderlog.Named{Name: n.Name, Source: r}
		if _, ok := n.Source.(orderlog.Foreign); ok {
			list[i].Source = foreignLog{r}
		}
	}
	c, err := orderlog.Compare(list, orderlog.CompareOptions{})
	if errors.Is(err, orderlog.ErrOtherGame) {
		return err
	}
	if err != nil {
		g.e.Lost = append(g.e.Lost, err.Error())
	} else {
		g.e.Orders = c
	}
	for _, r := range g.logs {
		r.rest()
	}
	return nil
}

// readAlone reads each log by itself, as far as that goes.
func (g *gatherer) readAlone() error {
	for _, f := range g.s.LogFiles() {
		source, closer, err := g.s.OpenLog(f)
		if err != nil {
			continue // the code that needs the log reports it
		}
		r := newReadLog(g.s, f, source)
		r.rest()
		closer.Close()
		r.name = cmp.Or(source.Header().Peer, f.Path)
		g.logs = append(g.logs, r)
	}
	return nil
}

// hashes returns what our own logs contain about their own peers, by their paths.
func (g *gatherer) hashes() map[string]*bisect.Log {
	out := map[string]*bisect.Log{}
	for _, r := range g.logs {
		if r.hashes != nil && r.ended && r.err == nil {
			log := r.hashes.Log()
			log.Header = r.header
			g.s.CompleteLog(log, r.file)
			out[r.file.Path] = log
		}
	}
	return out
}
