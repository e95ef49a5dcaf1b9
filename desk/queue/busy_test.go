//go:build unix

package queue_test

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/queue"
)

// TestBusy: bundles are busy while they have a job, and a store without a queue has none.
func TestBusy(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s, err := desk.Open(t.Context(), where, desk.Options{Create: true, Unsynced: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if busy, err := queue.Busy(t.Context(), s); err != nil || len(busy) > 0 {
			t.Fatal(busy, err)
		}
		q, err := queue.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for _, hash := range []string{"a", "b"} {
			b, _, err := q.Receive(t.Context(), desk.Bundle{Hash: hash, Name: hash, Bytes: 1, Kept: hash, KeptBytes: 1}, desk.Receipt{Name: hash, Source: "desk add"}, queue.Usual)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, b.ID)
		}
		if busy, err := queue.Busy(t.Context(), s); err != nil || !slices.Equal(busy, want) {
			t.Errorf("%v, %v, expected %v", busy, err, want)
		}
		if _, err := s.DB().Exec("UPDATE river_job SET state = 'completed', finalized_at = created_at WHERE id = (SELECT min(id) FROM river_job)"); err != nil {
			t.Fatal(err)
		}
		if busy, err := queue.Busy(t.Context(), s); err != nil || !slices.Equal(busy, want[1:]) {
			t.Errorf("%v, %v, expected %v", busy, err, want[1:])
		}
	})
}
