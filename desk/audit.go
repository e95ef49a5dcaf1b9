package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Entry is an action of a user or program on a desk.
type Entry struct {
	At    time.Time
	Who   string // a token, a user of the command line, or Tool
	What  string // upload, login, token added, merge …
	About string // the hash of a bundle, the code of a group, the name of a token
}

// AuditMark is a position in the audit list. It contains the numbers of the last entries before it from Audit, from
// receipts and from events. The zero value is the beginning.
type AuditMark [3]int64

// String returns the mark in the form that ParseAuditMark reads.
func (m AuditMark) String() string { return fmt.Sprintf("%d.%d.%d", m[0], m[1], m[2]) }

// ParseAuditMark parses a mark. An empty text means the beginning.
func ParseAuditMark(text string) (m AuditMark, err error) {
	if text == "" {
		return m, nil
	}
	_, err = fmt.Sscanf(text, "%d.%d.%d", &m[0], &m[1], &m[2])
	if err != nil || m.String() != text || slices.Min(m[:]) < 1 {
		return AuditMark{}, fmt.Errorf("%q is no place in the audit", text)
	}
	return m, nil
}

// Audit writes an entry for an action that has neither a receipt nor an event. It is chained to the entry before it.
func (tx *Tx) Audit(ctx context.Context, who, what, about string) error {
	if tx.store.kind == Postgres { // SQLite has one writer at a time
		if _, err := tx.ExecContext(ctx, "LOCK TABLE audit IN EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	var last string
	err := tx.each(ctx, "audit.last", nil, func(scan func(...any) error) error { return scan(&last) })
	if err != nil {
		return err
	}
	at := tx.store.Now().UnixMicro()
	_, err = tx.run(ctx, "audit.insert", at, who, what, about, link(last, at, who, what, about))
	return err
}

// link returns the hash of an entry: the SHA-256, as hex digits, of the link of the entry before it and the entry's own
// texts, the time in microseconds since 1970 as decimal digits among them. Each text is written as its length in bytes in
// decimal digits, a colon, and its bytes.
func link(last string, at int64, who, what, about string) string {
	h := sha256.New()
	for _, text := range []string{last, strconv.FormatInt(at, 10), who, what, about} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// AuditList returns the last actions from a position on, newest first, most at most: bundles that came in, edits of
// groups, and the entries of Audit. next is where the list continues, the zero value if it is complete.
func (s *Store) AuditList(ctx context.Context, from AuditMark, most int) (list []Entry, next AuditMark, err error) {
	if from == (AuditMark{}) {
		from = AuditMark{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	}
	type numbered struct {
		Entry
		id int64
	}
	var all [3][]numbered // newest first
	err = s.each(ctx, "audit.list", []any{most + 1, from[0], from[1], from[2]}, func(scan func(...any) error) error {
		var e numbered
		var source int64
		err := scan((*moment)(&e.At), &source, &e.id, &e.Who, &e.What, &e.About)
		if source >= 1 && source <= 3 {
			all[source-1] = append(all[source-1], e)
		}
		return err
	})
	if err != nil {
		return nil, AuditMark{}, err
	}
	next = from
	for len(list) < most {
		last := -1
		for i := range all {
			if len(all[i]) > 0 && (last < 0 || !all[i][0].At.Before(all[last][0].At)) {
				last = i
			}
		}
		if last < 0 {
			return list, AuditMark{}, nil
		}
		e := all[last][0]
		list, all[last], next[last] = append(list, e.Entry), all[last][1:], e.id
	}
	if len(all[0])+len(all[1])+len(all[2]) == 0 {
		next = AuditMark{}
	}
	return list, next, nil
}
