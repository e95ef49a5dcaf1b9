package refsim

import "time"

// frameTime is the length of a frame when a machine keeps up, maxFrames the most frames that it catches up on if it
// does not.
const (
	frameTime = time.Second / 30
	maxFrames = 4
)

// clock is what the fault wall-clock reads. It is not part of the state.
type clock struct {
	last   [numSystems]time.Time
	frames float64 // since Movement's last tick
}

// frames returns how long ago a system's last tick was by the machine's clock, in
// frames: 1 if the machine keeps up. A sim without the fault wall-clock in that
// system reads no clock.
func (s *Sim) frames(in system) float64 {
	if !s.on(wallClock, in) {
		return 1
	}
	now := time.Now()
	last := s.clock.last[in]
	s.clock.last[in] = now
	if last.IsZero() {
		return 1
	}
	return min(float64(now.Sub(last))/float64(frameTime), maxFrames)
}

// jitter returns a number in 0…7 by the time of day.
func jitter() uint64 { return uint64(time.Now().UnixNano()/100) % 8 }
