package desk

import (
	"context"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/report/document"
)

// described is the data about a report in its rows.
type described struct {
	id, variant     int64
	moved           bool   // a person chose its variant
	strict          string // of the variant
	status          document.Status
	game, build     string
	seed            string
	day, tick       int64
	peers           int
	names, rowNames []string // names of peers in the document and in the rows
}

// documents reads all documents, and compares them with the rows that were made from them.
func (x *examining) documents(ctx context.Context) error {
	for after := int64(0); ; {
		before := after
		var list []*described
		err := x.moment(ctx, func(tx *Tx) error {
			err := tx.each(ctx, "examine.documents", []any{after, atOnce}, func(scan func(...any) error) error {
				d := &described{}
				list = append(list, d)
				var body []byte
				if err := scanned(scan)(&d.id, &d.variant, &d.moved, &d.strict, &d.status, &d.game, &d.build, &d.seed, &d.day, &d.tick, &d.peers, &body); err != nil {
					return err
				}
				after = d.id
				x.document(d, body)
				return ctx.Err()
			})
			if err != nil || len(list) == 0 {
				return err
			}
			return x.peers(ctx, tx, list, before)
		})
		if err != nil {
			return x.tried("table documents", err)
		}
		if len(list) < atOnce {
			return nil
		}
	}
}

// document compares a document with the row of its report and its variant.
func (x *examining) document(d *described, body []byte) {
	defer x.step()
	x.done.Documents++
	where := reportNumber(d.id)
	r, err := unpack(body)
	if err != nil {
		x.fault(DocumentFault, where, "%s", err)
		return
	}
	for i := range r.Peers {
		d.names = append(d.names, r.Peers[i].Name)
	}
	slices.Sort(d.names)
	d.names = slices.Compact(d.names)
	_, key := KeyOf(r)
	switch {
	case r.Status != d.status:
		x.fault(DocumentFault, where, "its status is %s, its document has %s", d.status, r.Status)
	case !d.moved && key != (d.variant != 0):
		x.fault(DocumentFault, where, "its variant is %d, and its document %s", d.variant, map[bool]string{true: "belongs to a bug", false: "belongs to none"}[key])
	case d.variant != 0 && !d.moved && r.Fingerprint != d.strict:
		x.fault(DocumentFault, where, "the fingerprint of its variant is %q, its document has %q", d.strict, r.Fingerprint)
	case r.Session.Game != d.game || r.Session.Build != d.build || r.Session.Seed != d.seed:
		x.fault(DocumentFault, where, "its game, build and seed are %q, %q and %q, its document has %q, %q and %q", d.game, d.build, d.seed, r.Session.Game, r.Session.Build, r.Session.Seed)
	case dayOf(r) != d.day || tickOf(r) != d.tick || len(r.Peers) != d.peers:
		x.fault(DocumentFault, where, "its day, tick and number of peers are %q, %d and %d, its document has %q, %d and %d", Day(d.day), d.tick, d.peers, Day(dayOf(r)), tickOf(r), len(r.Peers))
	default:
		return
	}
	d.names = nil
}

// peers compares the peers in documents with their rows.
func (x *examining) peers(ctx context.Context, tx *Tx, list []*described, after int64) error {
	byID := map[int64]*described{}
	for _, d := range list {
		byID[d.id] = d
	}
	err := tx.each(ctx, "examine.peers", []any{after, list[len(list)-1].id}, func(scan func(...any) error) error {
		var id int64
		var name string
		err := scanned(scan)(&id, &name)
		if d := byID[id]; d != nil {
			d.rowNames = append(d.rowNames, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.names == nil {
			continue // it already has a fault, or its triage found no peer
		}
		if slices.Sort(d.rowNames); !slices.Equal(d.names, d.rowNames) {
			x.fault(DocumentFault, reportNumber(d.id), "the rows have %d of its %d peers", len(d.rowNames), len(d.names))
		}
	}
	return nil
}

func reportNumber(id int64) string { return fmt.Sprintf("report %d", id) }
