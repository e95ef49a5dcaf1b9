package desk

import (
	"context"
	"time"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// describe writes the data that belongs to only one report.
func (tx *Tx) describe(ctx context.Context, id int64, r *document.Report) error {
	body, err := pack(r)
	if err != nil {
		return err
	}
	if _, err := tx.run(ctx, "document.put", id, body); err != nil {
		return err
	}
	for i := range r.Peers {
		if _, err := tx.run(ctx, "report.peer.insert", id, r.Peers[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// dayOf returns the day of a match, in days since 1970; 0 if unknown.
func dayOf(r *document.Report) int64 {
	if r.Session.Played == nil {
		return 0
	}
	t, err := time.Parse(time.RFC3339, r.Session.Played.First)
	if err != nil {
		return 0
	}
	return max(0, t.Unix()/(24*60*60))
}

// tickOf returns the divergent tick, or the first possible one, -1 if unknown.
func tickOf(r *document.Report) int64 {
	d := r.FirstDivergence
	switch {
	case d == nil:
	case d.Tick != nil:
		return int64(*d.Tick)
	case d.Bracket != nil && d.Bracket.Good != nil:
		return int64(*d.Bracket.Good)
	}
	return -1
}

// maxVerdict is the maximum length of a sentence in a list.
const maxVerdict = 240

// firstSentence is the text that a list shows for a report.
func firstSentence(r *document.Report) string {
	if len(r.Verdict) == 0 {
		return ""
	}
	return prose.Shorten(r.Verdict[0], maxVerdict)
}
