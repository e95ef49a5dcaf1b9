package desk

import (
	"context"
	"time"
)

// Entry is something that somebody did to a desk.
type Entry struct {
	At    time.Time
	Who   string // a token, a user of the command line, or Tool
	What  string // upload, login, token added, merge …
	About string // the hash of a bundle, the code of a group, the name of a token
}

// Audit writes that somebody did something that is neither a receipt nor an event.
func (tx *Tx) Audit(ctx context.Context, who, what, about string) error {
	_, err := tx.run(ctx, "audit.insert", tx.store.Now().UnixMicro(), who, what, about)
	return err
}

// AuditList returns what was last done, at most so many entries, the last one first: what came in, what
// was done to groups, and what Audit wrote.
func (s *Store) AuditList(ctx context.Context, most int) (list []Entry, err error) {
	err = s.each(ctx, "audit.list", []any{most}, func(scan func(...any) error) error {
		var e Entry
		var at, source, id int64
		err := scan(&at, &source, &id, &e.Who, &e.What, &e.About)
		e.At = micros(at)
		list = append(list, e)
		return err
	})
	return list, err
}
