package queue

import "time"

// SetClock has River take now for the time.
func SetClock(q *Queue, now func() time.Time) { q.clock = clock(now) }

type clock func() time.Time

func (c clock) Now() time.Time { return c() }

func (c clock) NowOrNil() *time.Time {
	now := c()
	return &now
}
