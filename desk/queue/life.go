package queue

import (
	"context"

	"github.com/desynctool/desynctool/desk"
)

// life shows other workers that this process runs.
type life interface {
	// id is the name of this worker.
	id() string
	// keep makes sure that the other workers still see it.
	keep(ctx context.Context) error
	// alive reports which workers run.
	alive(ctx context.Context, ids []string) (map[string]bool, error)
	// Close ends it. Other workers may then take its jobs.
	Close() error
}

// live starts the life of a worker.
func (q *Queue) live(ctx context.Context) (life, error) {
	if q.store.Kind() == desk.Postgres {
		l := &session{db: q.store.DB()}
		return l, l.keep(ctx)
	}
	return newLocked(q.store.Where())
}
