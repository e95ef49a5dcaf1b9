package queue

import (
	"context"

	"github.com/desynctool/desynctool/desk"
)

// life is that this process runs, as others see it.
type life interface {
	// id is the name of this worker.
	id() string
	// keep makes sure that others see it still.
	keep(ctx context.Context) error
	// alive reports which workers run.
	alive(ctx context.Context, ids []string) (map[string]bool, error)
	// Close ends it: its jobs are anyone's.
	Close() error
}

// live begins the life of a worker.
func (q *Queue) live(ctx context.Context) (life, error) {
	if q.store.Kind() == desk.Postgres {
		l := &session{db: q.store.DB()}
		return l, l.keep(ctx)
	}
	return newLocked(q.store.Where())
}
