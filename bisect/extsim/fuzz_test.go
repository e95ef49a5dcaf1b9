package extsim

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
)

// FuzzReply answers one of the first requests with anything.
func FuzzReply(f *testing.F) {
	f.Add(byte(0), []byte("\x93\x01\xc0\x81\xa8protocol\x01"))
	f.Add(byte(1), []byte("\x93\x02\xc0\x92\x00\xc4\x08\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(byte(2), []byte("\x93\x03\xc0\xc4\x08\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(byte(2), []byte("\x93\x03\xa2no\xc0"))
	f.Fuzz(func(t *testing.T, at byte, reply []byte) {
		server := NewServer(fixedSim(), "1")
		n := byte(0)
		sim := Over("fixed", Options{}, func() (*Call, error) {
			return &Call{
				Do: func(request []byte, _ time.Duration) ([]byte, error) {
					if n++; n == at%8+1 {
						return reply, nil
					}
					return server.Answer(request)
				},
				Release: server.Close,
			}, nil
		})
		s, err := sim.Start(&orderlog.Header{})
		if err != nil {
			return
		}
		c := s.(*simulator)
		_ = c.Step(nil)
		c.about.can = bisect.Capabilities()
		_, _ = c.World()
		_, _ = c.StaleCaches()
		_, _, _ = c.Next()
		_, _ = c.Validate(make([]orderlog.Order, 2))
	})
}

// FuzzServe sends anything to the reference sim.
func FuzzServe(f *testing.F) {
	var m message
	log := recordedLog(f, 2)
	add := func(method string, params ...func()) {
		m.begin()
		m.array(3)
		m.uint(1)
		m.str(method)
		m.array(len(params))
		for _, p := range params {
			p()
		}
		f.Add(bytes.Clone(m.frame()))
	}
	header := func() { m.raw(orderlog.AppendHeader(nil, &log.Header)) }
	orders := func() { m.raw(orderlog.AppendOrders(nil, log.Ticks[1].Orders)) }
	zero := func() { m.uint(0) }
	add(helloMethod, func() { m.uint(1) }, func() { m.str("x") })
	add(startMethod, header)
	add(stepMethod, zero, func() { m.array(1); orders() })
	add(beginMethod, zero, orders)
	add(nextMethod)
	add(stateMethod)
	add(validateMethod, zero, orders)
	add(testMethod, zero, func() { m.raw(orderlog.AppendOrders(nil, []orderlog.Order{{Payload: []byte{1}}})[1:]) })
	add(loadMethod, func() { m.bin([]byte("\x89SNAP")) }, header)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewServer(refsim.Simulator(), "1")
		m := message{}
		m.begin()
		m.array(3)
		m.uint(0)
		m.str(startMethod)
		m.array(1)
		m.raw(orderlog.AppendHeader(nil, &log.Header))
		if _, err := s.answer(m.body()); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(bytes.NewReader(b))
		var buf bytes.Buffer
		for {
			request, err := readFrame(r, &buf, 1<<20)
			if err != nil {
				return
			}
			if _, err := s.answer(request); err != nil {
				return
			}
		}
	})
}
