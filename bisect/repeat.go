package bisect

import (
	"errors"
	"fmt"
	"math"

	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// repeat replays the log several times, on all processors, and compares each replay with the first.
func (p *player) repeat() error {
	if p.opts.Runs < 2 {
		return fmt.Errorf("%s, expected at least 2", prose.Count(p.opts.Runs, "run", "runs"))
	}
	p.all = int64(p.opts.Runs) * p.length()
	first, err := p.hashes(nil)
	if err != nil {
		return err
	}
	p.out.Runs, p.out.End = p.opts.Runs-1, first[len(first)-1]
	departs := make([]*Departure, p.out.Runs)
	errs := make([]error, p.out.Runs)
	parallel.Each(0, p.out.Runs, func(i int) {
		_, errs[i] = p.hashes(func(n int, got merkle.Short) bool {
			if got == first[n] {
				return true
			}
			departs[i] = &Departure{
				Point: p.out.From + uint64(n), A: "first replay", B: fmt.Sprintf("replay %d", i+2), Expected: first[n], Got: got,
			}
			return false
		})
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	p.hits = make([]bool, len(departs))
	for i, d := range departs {
		p.hits[i] = d != nil
		if d == nil {
			p.out.Compared += uint64(len(first))
			continue
		}
		p.out.Compared += d.Point - p.out.From + 1
		p.out.Hits++
		if p.out.First == nil || d.Point < p.out.First.Point {
			p.out.First = d
		}
	}
	if d := p.out.First; d != nil && d.Point > p.out.From {
		agreed := d.Point - 1
		p.out.Agreed = &agreed
	}
	p.out.Low, p.out.High = Wilson(p.out.Hits, p.out.Runs)
	return nil
}

// hashes replays the log and returns the hash of each point, until keep, if it is not nil, reports false.
func (p *player) hashes(keep func(n int, hash merkle.Short) bool) (list []merkle.Short, err error) {
	s, err := p.start(p.sim)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop(s)) }()
	err = p.walk(s, func(point uint64, hash merkle.Short) (more bool, err error) {
		if keep != nil {
			return keep(int(point-p.out.From), hash), nil
		}
		list = append(list, hash)
		return true, nil
	})
	if err != nil {
		return nil, err // the caller takes a list to have all hashes
	}
	return list, nil
}

// Wilson returns the bounds of a rate with hits out of n, with 95 % confidence (Wilson's score interval).
func Wilson(hits, n int) (low, high float64) {
	const z = 1.959963984540054
	rate, size := float64(hits)/float64(n), float64(n)
	centre := rate + z*z/(2*size)
	spread := z * math.Sqrt(rate*(1-rate)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	return max(0, (centre-spread)/scale), min(1, (centre+spread)/scale)
}

// RunsFor returns how many replays are needed to see an event with this rate at least once, with 95 % probability.
func RunsFor(rate float64) int { return int(math.Ceil(math.Log(0.05) / math.Log1p(-rate))) }
