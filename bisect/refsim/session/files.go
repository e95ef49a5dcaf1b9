package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// LogName is the name of the order log in a peer's folder, TruthName the name of the truth in the session's folder.
const (
	LogName   = "order-log.bin"
	TruthName = "truth.json"
)

// Recording describes what RecordTo wrote.
type Recording struct {
	Truth *Truth
	Peers []Recorded

	// Detected is the first state point at which comparing sync hashes showed
	// a difference, nil if none did.
	Detected *uint64
}

// Recorded are the files of one peer.
type Recorded struct {
	Name      string
	Dir       string
	Snapshots []string // paths, by state point
	Points    []uint64 // of the snapshots
	Log       string   // path
	Trace     string   // path, empty if none was written

	// Signatures is the path of the chain of tick signatures, empty if none was written.
	Signatures string
}

// At returns the path of the snapshot of a point, "" if there is none.
func (r *Recorded) At(point uint64) string {
	for i, p := range r.Points {
		if p == point {
			return r.Snapshots[i]
		}
	}
	return ""
}

// RecordTo plays a session and writes it to dir, which must be empty, not exist, or contain the files of a killed
// RecordTo: a folder for each peer with its order log, its snapshots and its trace, the files that Options.Reports
// adds, and finally truth.json. A folder without it was not finished. After an error nothing is left.
func RecordTo(dir string, o Options, trace TraceLevel) (_ *Recording, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := refsim.New(o.Config); err != nil {
		return nil, err
	}
	own, err := claim(dir, o.Peers)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, own.discard())
		}
	}()
	w := &writer{
		recording: Recording{Peers: make([]Recorded, len(o.Peers))}, logs: make([]*orderlog.Writer, len(o.Peers)),
		trace: trace, tracers: make([]*tracer, len(o.Peers)),
	}
	if o.Signatures {
		w.chains = make([]*signatures.Writer, len(o.Peers))
	}
	for i, name := range o.Peers {
		p := &w.recording.Peers[i]
		p.Name, p.Dir = name, filepath.Join(dir, name)
		if filepath.Base(p.Dir) != name {
			return nil, fmt.Errorf("%q cannot be the name of a peer's folder", name)
		}
		if err := os.MkdirAll(p.Dir, 0o777); err != nil {
			return nil, err
		}
	}
	truth, err := Record(o, w.sink())
	if err = errors.Join(err, w.close()); err != nil {
		return nil, err
	}
	w.recording.Truth = truth
	if o.Reports != nil {
		if err := o.Reports(&w.recording); err != nil {
			return nil, err
		}
	}
	if err := files.Replace(filepath.Join(dir, TruthName), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(truth)
	}); err != nil {
		return nil, err
	}
	return &w.recording, own.finish()
}

// writer is the Sink of RecordTo.
type writer struct {
	recording Recording
	logs      []*orderlog.Writer
	trace     TraceLevel
	tracers   []*tracer
	chains    []*signatures.Writer // nil if none are written
	closers   []func() error       // the last one is called first
}

func (w *writer) sink() Sink {
	sink := Sink{
		Detected: func(point uint64) { w.recording.Detected = &point },
		Header: func(peer int, h orderlog.Header) error {
			p := &w.recording.Peers[peer]
			p.Log = filepath.Join(p.Dir, LogName)
			f, err := w.create(p.Log)
			if err != nil {
				return err
			}
			if w.logs[peer], err = orderlog.NewWriter(f, h, orderlog.WriterOptions{}); err != nil {
				return err
			}
			w.closers = append(w.closers, f.Sync, w.logs[peer].Close)
			if w.chains != nil {
				p.Signatures = filepath.Join(p.Dir, signatures.Name)
				if w.chains[peer], err = w.newChain(p.Signatures, h); err != nil {
					return err
				}
			}
			if w.trace != TraceNone {
				p.Trace = filepath.Join(p.Dir, TraceName)
				w.tracers[peer], err = w.newTracer(p.Trace, h)
			}
			return err
		},
		Tick:     func(peer int, t orderlog.Tick) error { return w.logs[peer].WriteTick(&t) },
		Observed: func(peer int, hashes []orderlog.Observed) error { return w.logs[peer].WriteObserved(hashes) },
		Snapshot: func(peer int, world *snapshot.World) error {
			p := &w.recording.Peers[peer]
			path := filepath.Join(p.Dir, snapshot.Name(world.Seed, world.Point.Tick))
			if err := snapshot.WriteFile(path, world, snapshot.WriteOptions{}); err != nil {
				return err
			}
			p.Snapshots = append(p.Snapshots, path)
			p.Points = append(p.Points, world.Point.Tick)
			return nil
		},
	}
	if w.chains != nil {
		sink.State = func(peer int, point uint64, hash merkle.Hash) error { return w.chains[peer].Sign(point, hash) }
	}
	if w.trace != TraceNone {
		sink.System = func(peer int, tick uint64, system string, sim *refsim.Sim) error {
			return w.tracers[peer].system(tick, system, sim)
		}
	}
	return sink
}

// create makes a file that close closes.
func (w *writer) create(path string) (*os.File, error) {
	f, err := os.Create(path)
	if err == nil {
		w.closers = append(w.closers, f.Close)
	}
	return f, err
}

func (w *writer) close() error {
	var err error
	for _, closer := range slices.Backward(w.closers) {
		err = errors.Join(err, closer())
	}
	return err
}

// MaxPeers is the most peers that PeerNames names.
const MaxPeers = 16

// PeerNames returns the usual names of n peers: host, client, client2, ….
func PeerNames(n int) []string {
	names := []string{"host", "client"}
	for i := 2; i < n; i++ {
		names = append(names, fmt.Sprintf("client%d", i))
	}
	return names[:n]
}
