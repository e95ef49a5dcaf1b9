package queue

import "time"

// SetClock has River take now for the time.
func SetClock(q *Queue, now func() time.Time) { q.clock = clock(now) }

type clock func() time.Time

func (c clock) NowUTC() time.Time { return c().UTC() }

func (c clock) NowUTCOrNil() *time.Time {
	now := c().UTC()
	return &now
}
