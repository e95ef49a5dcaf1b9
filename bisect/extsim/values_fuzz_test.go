package extsim

import (
	"bytes"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/mutate"
	"github.com/desynctool/desynctool/orderlog"
)

// FuzzReplyValues changes single values of the replies of a target that is right: they stay MessagePack, and mean
// something else.
func FuzzReplyValues(f *testing.F) {
	f.Add(uint16(0), []byte{1, 0, 0, 3})
	f.Add(uint16(1), []byte{2, 0, 1, 9})
	f.Add(uint16(0x0102), []byte{3, 0, 6, 9})
	log := recordedLog(f, 3)
	var ticks [][]orderlog.Order
	for i := range log.Ticks {
		ticks = append(ticks, log.Ticks[i].Orders)
	}
	f.Fuzz(func(t *testing.T, which uint16, script []byte) {
		server := NewServer(refsim.Simulator(), "1")
		n, otherID := 0, false
		sim := Over("target", Options{}, func() (*Call, error) {
			return &Call{
				Do: func(request []byte, _ time.Duration) ([]byte, error) {
					reply, err := server.Answer(request)
					if n++; err != nil || which>>(n%16)&1 == 0 {
						return reply, err
					}
					changed := mutate.Change(reply, script[:min(len(script), 16)])
					a, b := mutate.Spans(reply), mutate.Spans(changed)
					if len(b) < 2 || !bytes.Equal(reply[a[1].From:a[1].To], changed[b[1].From:b[1].To]) {
						otherID = true
					}
					return changed, nil
				},
				Release: server.Close,
			}, nil
		})
		s, err := sim.Start(&log.Header)
		if err != nil {
			return
		}
		c := s.(*simulator)
		for _, orders := range ticks {
			if err = c.Step(orders); err != nil {
				break
			}
		}
		if err == nil && otherID {
			t.Fatal("the reply to another request is taken for its own")
		}
		if err == nil && c.Point() != uint64(len(ticks)) {
			t.Fatalf("after %d ticks it is at point %d", len(ticks), c.Point())
		}
		c.about.can = bisect.Capabilities()
		if w, err := c.World(); err == nil {
			if err := w.Validate(); err != nil {
				t.Fatalf("a state that is none: %v", err)
			}
		}
		_, _ = c.StaleCaches()
		_, _ = c.Validate(ticks[0])
		_, _ = c.Run(nil, ticks)
		_ = c.Close()
	})
}

// FuzzRequestValues changes single values of requests that are right, sent to the reference sim. Each
// gets a reply to itself or ends the connection, and afterwards a session begins as ever.
func FuzzRequestValues(f *testing.F) {
	log := recordedLog(f, 2)
	var requests [][]byte
	server := NewServer(refsim.Simulator(), "1")
	sim := Over("reference", Options{}, func() (*Call, error) {
		return &Call{
			Do: func(request []byte, _ time.Duration) ([]byte, error) {
				requests = append(requests, bytes.Clone(request))
				return server.Answer(request)
			},
			Release: server.Close,
		}, nil
	})
	s, err := sim.Start(&log.Header)
	if err != nil {
		f.Fatal(err)
	}
	c := s.(*simulator)
	for i := range log.Ticks {
		if err := c.Step(log.Ticks[i].Orders); err != nil {
			f.Fatal(err)
		}
	}
	w, err := c.World()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := c.Validate(log.Ticks[0].Orders); err != nil {
		f.Fatal(err)
	}
	if _, err := sim.Resume(w, &log.Header); err != nil {
		f.Fatal(err)
	}
	start := requests[1]
	f.Add(uint16(1), []byte{3, 0, 0, 5})
	f.Add(uint16(6), []byte{4, 0, 0, 5, 9, 0, 1, 1})
	f.Fuzz(func(t *testing.T, which uint16, script []byte) {
		server := NewServer(refsim.Simulator(), "1")
		defer server.Close()
		for n, request := range requests {
			if which>>(n%16)&1 == 1 {
				request = mutate.Change(request, script[:min(len(script), 16)])
			}
			reply, err := server.Answer(request)
			if err != nil {
				continue
			}
			asked, answered := mutate.Spans(request), mutate.Spans(reply)
			if len(answered) < 4 || reply[0] != 0x93 {
				t.Fatalf("% x is answered with % x", request, reply)
			}
			if !bytes.Equal(request[asked[1].From:asked[1].To], reply[answered[1].From:answered[1].To]) && request[asked[1].From] < 0x80 {
				t.Fatalf("the reply to % x is to another request: % x", request, reply)
			}
		}
		reply, err := server.Answer(start)
		if err != nil || len(mutate.Spans(reply)) < 4 || reply[mutate.Spans(reply)[2].From] != 0xc0 {
			t.Fatalf("no session begins any more: % x, %v", reply, err)
		}
	})
}
