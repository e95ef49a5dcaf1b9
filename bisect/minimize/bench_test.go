package minimize

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/desynctool/desynctool/snapshot"
)

// waiting is a Test that takes its time without a processor, as a game in another process.
type waiting struct{ rule }

func (w *waiting) Run(ctx context.Context, c *Candidate, from *snapshot.World) (Outcome, error) {
	select {
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	case <-time.After(5 * time.Millisecond):
	}
	return w.rule.Run(ctx, c, from)
}

// BenchmarkJobs searches for forty orders among 8000 with several candidates at once. It
// reports the replays that the answer cost, and those that ran.
func BenchmarkJobs(b *testing.B) {
	in := input(b, 8000)
	var guilty []int
	for i := range 40 {
		guilty = append(guilty, 7+199*i)
	}
	for _, jobs := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			for b.Loop() {
				test := &waiting{rule{diverges: func(c *Candidate) bool { return has(c, guilty) }, hasty: true, pointed: true}}
				r, err := Run(context.Background(), in, test, Options{Jobs: jobs})
				if err != nil || !slices.Equal(r.Best.kept, guilty) {
					b.Fatalf("%v, %v", r, err)
				}
				b.ReportMetric(float64(r.Replays), "replays")
				b.ReportMetric(float64(test.runs.Load()), "ran")
			}
		})
	}
}
