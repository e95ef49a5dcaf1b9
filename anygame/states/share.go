package states

import (
	"sync/atomic"
	"weak"

	"github.com/desynctool/desynctool/snapshot"
)

// lately is the state that was read last, as long as somebody uses it. States of a session have most values in common,
// so the next state shares the memory of the columns that are equal in both.
type lately struct {
	world atomic.Pointer[weak.Pointer[snapshot.World]]
}

// keep remembers the state of a file with one state.
func (l *lately) keep(worlds []*snapshot.World) {
	if len(worlds) == 1 {
		w := weak.Make(worlds[0])
		l.world.Store(&w)
	}
}

// sharedRows is the number of values from which a column is worth sharing.
const sharedRows = 256

// columns returns the columns that another state can share, by the label of their table, and by component and field.
func (l *lately) columns() map[string]map[[2]string]*snapshot.Column {
	kept := l.world.Load()
	if kept == nil {
		return nil
	}
	w := kept.Value()
	if w == nil {
		return nil
	}
	out := map[string]map[[2]string]*snapshot.Column{}
	for i := range w.Tables {
		t := &w.Tables[i]
		for k := range t.Columns {
			c := &t.Columns[k]
			if c.Type != snapshot.Scalar || c.Present != nil || len(c.Ends) < sharedRows {
				continue
			}
			if out[t.Label] == nil {
				out[t.Label] = map[[2]string]*snapshot.Column{}
			}
			out[t.Label][[2]string{c.Component, c.Field}] = c
		}
	}
	return out
}
