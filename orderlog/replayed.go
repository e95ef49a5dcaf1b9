package orderlog

import "io"

// Source returns the log as a stream. Its epochs are given by the markers in its ticks.
func (l *Log) Source() Source { return &replayed{log: l} }

// replayed streams a log that is in memory.
type replayed struct {
	log         *Log
	epoch, next int // next epoch, and next tick in it
	observed    bool
}

func (r *replayed) Header() Header { return r.log.Header }

func (r *replayed) Next() (Record, error) {
	for ; r.epoch < len(r.log.Epochs); r.epoch, r.next, r.observed = r.epoch+1, 0, false {
		e := &r.log.Epochs[r.epoch]
		if r.next < len(e.Ticks) {
			r.next++
			return Record{Kind: TickRecord, Epoch: e.Number, Tick: &e.Ticks[r.next-1]}, nil
		}
		if !r.observed && len(e.Observed) > 0 {
			r.observed = true
			return Record{Kind: ObservedRecord, Epoch: e.Number, Observed: e.Observed}, nil
		}
	}
	return Record{}, io.EOF
}

// WriteLog writes a whole log.
func WriteLog(w io.Writer, l *Log) error {
	lw, err := NewWriter(w, l.Header, WriterOptions{})
	if err != nil {
		return err
	}
	for src := l.Source(); ; {
		rec, err := src.Next()
		switch {
		case err == io.EOF:
			return lw.Close()
		case rec.Kind == TickRecord:
			err = lw.WriteTick(rec.Tick)
		default:
			err = lw.WriteObserved(rec.Observed)
		}
		if err != nil {
			return err
		}
	}
}
