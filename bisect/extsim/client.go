package extsim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// simulator is an instance in a target. It implements all interfaces of package bisect; Can reports which of them the
// target supports.
type simulator struct {
	name    string
	dial    func() (link, error)
	link    link
	timeout time.Duration
	about   about
	origin  origin

	id     uint64
	method string // of the last request
	req    message
	reply  values

	point uint64
	hash  merkle.Short
	pace  pace

	// checkpoint is the last state that was saved on the way, to return to when the
	// target breaks off.
	checkpoint checkpoint
	played     [][]orderlog.Order // since
}

// origin is what a session began with.
type origin struct {
	header *orderlog.Header
	state  []byte // a .snap, nil for the start of the session
}

// about is what a target reports about itself.
type about struct {
	version     uint64 // of the protocol
	Name, Build string
	can         []bisect.Capability
	maxRequest  uint64
	maxRestore  uint64 // of the requests to restore a state; 0 means maxRequest
}

// maxRestoreKey is a key of hello.
const maxRestoreKey = "max_restore"

// takes returns how many bytes a request may have.
func (a *about) takes(method string) uint64 {
	if method == restoreMethod && a.maxRestore > 0 {
		return a.maxRestore
	}
	return a.maxRequest
}

// checkpoint is a state in the target's own form.
type checkpoint struct {
	have  bool
	point uint64
	state []byte // nil is the origin
}

// Can implements bisect.Partial.
func (s *simulator) Can(c bisect.Capability) bool { return slices.Contains(s.about.can, c) }

// Identity implements bisect.Identified.
func (s *simulator) Identity() (game, build string) { return s.about.Name, s.about.Build }

// Point implements bisect.Simulator.
func (s *simulator) Point() uint64 { return s.point }

// SyncHash implements bisect.Simulator.
func (s *simulator) SyncHash() merkle.Short { return s.hash }

// named puts the simulator's name in front of an error. Exported methods defer it.
func (s *simulator) named(err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", s.name, *err)
	}
}

// Close ends the target.
func (s *simulator) Close() (err error) {
	defer s.named(&err)
	if s.link == nil {
		return nil
	}
	return s.link.close()
}

// connect starts a target and begins the session in it.
func (s *simulator) connect() (err error) {
	if s.link, err = s.dial(); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return errors.Join(err, s.link.close())
	}
	s.checkpoint = checkpoint{have: true, point: s.point}
	s.played = s.played[:0]
	return nil
}

func (s *simulator) begin() error {
	if err := s.hello(); err != nil {
		return err
	}
	if s.origin.state != nil {
		return s.load()
	}
	s.request(startMethod, 1)
	s.req.raw(orderlog.AppendHeader(nil, s.origin.header))
	return s.arrive(maxReply)
}

// request begins the message of a request with n parameters.
func (s *simulator) request(method string, n int) {
	s.id++
	s.method = method
	s.req.begin()
	s.req.array(3)
	s.req.uint(s.id)
	s.req.str(method)
	s.req.array(n)
}

// send sends the request and reads the head of its reply; the rest of s.reply is the result.
func (s *simulator) send(limit uint32) error {
	if n, most := uint64(len(s.req.body())), s.about.takes(s.method); n > most {
		return fmt.Errorf("a request of %d bytes, the target takes %d", n, most)
	}
	b, err := s.link.call(s.req.frame(), limit, s.timeout)
	if err != nil {
		return err
	}
	if err := s.reply.read(b); err != nil {
		what := "its answer"
		if len(b) > 0 {
			what += fmt.Sprintf(", which begins with %+q,", b[:min(len(b), maxStray)])
		}
		return s.link.broken(fmt.Sprintf("%s is not MessagePack: %v", what, err))
	}
	s.reply.tuple(3, "reply")
	if id := s.reply.uint("id of the reply"); s.reply.err == nil && id != s.id {
		return s.link.broken(fmt.Sprintf("it answers request %d, which is out of order: %d was the last", id, s.id))
	}
	if refused := !s.reply.null("error of the reply"); refused {
		msg := s.reply.str("error of the reply")
		if err := s.done(); err != nil {
			return err
		}
		return &RefusedError{Msg: msg}
	}
	return s.done()
}

// done reports what was wrong with the parts of a reply that were read.
func (s *simulator) done() error {
	if err := s.reply.err; err != nil {
		return s.link.broken("its answer is malformed: " + err.Error())
	}
	return nil
}

// hello asks the target what it is.
func (s *simulator) hello() error {
	s.about = about{maxRequest: DefaultMaxRequest}
	s.request(helloMethod, 2)
	s.req.uint(Version)
	s.req.str("desynctool")
	if err := s.send(maxReply); err != nil {
		return err
	}
	if i, ok := s.link.(imager); ok && i.hasImage() {
		s.about.can = append(s.about.can, bisect.CanSave)
	}
	s.reply.entries("hello", s.about.entries())
	if v := s.about.version; s.reply.err == nil && v != Version {
		return s.link.broken(fmt.Sprintf("it speaks version %d of the protocol, expected %d", v, Version))
	}
	return s.done()
}

// entries is the result of hello.
func (a *about) entries() []entry {
	return []entry{
		one("protocol", &a.version, (*message).uint, (*values).uint),
		one("name", &a.Name, (*message).str, (*values).str),
		one("build", &a.Build, (*message).str, (*values).str),
		several("can", &a.can, putName, takeName),
		one("max_request", &a.maxRequest, (*message).uint, (*values).uint),
		one(maxRestoreKey, &a.maxRestore, (*message).uint, (*values).uint).leftOutIf(a.maxRestore == 0),
	}
}

// arrive sends a request that leads to another state.
func (s *simulator) arrive(limit uint32) error {
	if err := s.send(limit); err != nil {
		return err
	}
	s.reply.tuple(2, "state point and hash")
	point, hash := s.reply.uint("state point"), s.reply.hash("hash")
	if err := s.done(); err != nil {
		return err
	}
	s.point, s.hash = point, hash
	return nil
}

// exchange sends a request with params parameters, which put appends, and take reads the result. A request that the
// target has not announced is not sent.
func (s *simulator) exchange(method string, limit uint32, params int, put func(), take func()) (err error) {
	defer s.named(&err)
	s.request(method, params)
	if put != nil {
		put()
	}
	if c := needs[method]; !s.Can(c) {
		return fmt.Errorf("%s: %w", c, ErrUnsupported)
	}
	if err := s.send(limit); err != nil {
		return err
	}
	take()
	return s.done()
}

func (s *simulator) load() error {
	s.request(loadMethod, 2)
	s.req.bin(s.origin.state)
	if s.origin.header == nil {
		s.req.null()
	} else {
		s.req.raw(orderlog.AppendHeader(nil, s.origin.header))
	}
	if !s.Can(bisect.CanLoad) {
		return fmt.Errorf("%s: %w", bisect.CanLoad, ErrUnsupported)
	}
	return s.arrive(maxReply)
}

// World implements bisect.Saver.
func (s *simulator) World() (w *snapshot.World, err error) {
	var b []byte
	if err := s.exchange(stateMethod, maxState, 0, nil, func() { b = s.reply.bin("state") }); err != nil {
		return nil, err
	}
	defer s.named(&err)
	if w, err = snapshot.Decode(slices.Clone(b), "the state that it returns"); err != nil {
		return nil, s.link.broken(err.Error())
	}
	return w, nil
}

// Save implements bisect.Restorer.
func (s *simulator) Save() (save []byte, err error) {
	if i, ok := s.link.(imager); ok && i.hasImage() {
		defer s.named(&err)
		return s.saveImage(i)
	}
	err = s.exchange(saveMethod, maxSave, 0, nil, func() {
		save = slices.Clone(s.reply.bin("save"))
	})
	return save, err
}

// Restore implements bisect.Restorer.
func (s *simulator) Restore(save []byte) (err error) {
	defer s.named(&err)
	if !s.Can(bisect.CanSave) {
		return fmt.Errorf("%s: %w", bisect.CanSave, ErrUnsupported)
	}
	s.checkpoint = checkpoint{} // the ticks played since belong to another past
	if i, ok := s.link.(imager); ok && i.hasImage() {
		return s.restoreImage(i, save)
	}
	s.request(restoreMethod, 1)
	s.req.bin(save)
	return s.arrive(maxReply)
}

// saveImage saves the target's image after the point and the hash, which are not in it.
func (s *simulator) saveImage(i imager) ([]byte, error) {
	image, err := i.image()
	if err != nil {
		return nil, err
	}
	return append(appendSaveHead(nil, s.point, s.hash), image...), nil
}

func (s *simulator) restoreImage(i imager, save []byte) error {
	point, hash, image, err := cutSaveHead(save)
	if err != nil {
		return &RefusedError{err.Error()}
	}
	if err := i.setImage(image); err != nil {
		return err
	}
	s.point, s.hash = point, hash
	return nil
}

// Begin implements bisect.Stepper.
func (s *simulator) Begin(orders []orderlog.Order) error {
	return s.exchange(beginMethod, maxReply, 2, func() {
		s.req.uint(s.point)
		s.req.raw(orderlog.AppendOrders(nil, orders))
	}, func() {
		if !s.reply.null("result of begin") {
			s.reply.fail("result of begin", errors.New("expected nil"))
		}
		s.checkpoint = checkpoint{}
	})
}

// Next implements bisect.Stepper.
func (s *simulator) Next() (system string, more bool, err error) {
	err = s.exchange(nextMethod, maxReply, 0, nil, func() {
		s.reply.tuple(3, "result of next")
		system, more = s.reply.str("system"), s.reply.bool("more")
		s.hash = s.reply.hash("hash")
		if !more {
			s.point++
		}
	})
	return system, more, err
}

// StaleCaches implements bisect.CacheChecker.
func (s *simulator) StaleCaches() (list []string, err error) {
	err = s.exchange(cachesMethod, maxReply, 0, nil, func() {
		list = s.reply.strs("caches")
	})
	return list, err
}

// Validate implements bisect.Validator.
func (s *simulator) Validate(orders []orderlog.Order) (why []string, err error) {
	if len(orders) == 0 {
		return nil, nil
	}
	err = s.exchange(validateMethod, maxReply, 2, func() {
		s.req.uint(orders[0].Tick)
		s.req.raw(orderlog.AppendOrders(nil, orders))
	}, func() {
		why = s.reply.strs("reasons")
		if s.reply.err == nil && len(why) != len(orders) {
			s.reply.fail("reasons", fmt.Errorf("%d for %d orders", len(why), len(orders)))
		}
	})
	return why, err
}

// Test implements bisect.Tester.
func (s *simulator) Test(o *orderlog.Order) (possible bool, err error) {
	err = s.exchange(testMethod, maxReply, 2, func() {
		s.req.uint(s.point)
		s.req.raw(orderlog.AppendOrders(nil, []orderlog.Order{*o})[1:]) // without the head of the array
	}, func() {
		s.reply.tuple(2, "result of test")
		possible, s.hash = s.reply.bool("possible"), s.reply.hash("hash")
	})
	return possible, err
}

// Predict implements bisect.Predictor.
func (s *simulator) Predict(player uint32, orders []orderlog.Order) error {
	return s.exchange(predictMethod, maxReply, 3, func() {
		s.req.uint(s.point)
		s.req.uint(uint64(player))
		s.req.raw(orderlog.AppendOrders(nil, orders))
	}, func() {
		s.hash = s.reply.hash("hash")
	})
}

// Where implements bisect.Locator.
func (s *simulator) Where(archetype, column string, key snapshot.Key) (address uint64, bytes uint32, err error) {
	err = s.exchange(whereMethod, maxReply, 4, func() {
		s.req.str(archetype)
		s.req.str(column)
		s.req.uint(key.A)
		s.req.uint(key.B)
	}, func() {
		s.reply.tuple(2, "result of where")
		address, bytes = s.reply.uint("address"), s.reply.uint32("bytes")
	})
	return address, bytes, err
}

// Branches implements bisect.Brancher.
func (s *simulator) Branches(mode bisect.BranchMode, file string, stop uint64) (list []bisect.Flow, err error) {
	err = s.exchange(branchesMethod, maxReply, 3, func() {
		s.req.uint(uint64(mode))
		s.req.str(file)
		s.req.uint(stop)
	}, func() {
		for range s.reply.array("flows") {
			s.reply.tuple(3, "flow")
			list = append(list, bisect.Flow{Thread: s.reply.uint32("thread"), Count: s.reply.uint("count of branches"), Hash: s.reply.uint("hash of branches")})
			if s.reply.err != nil {
				return
			}
		}
	})
	return list, err
}
