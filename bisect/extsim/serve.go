package extsim

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Connect returns the connection that a target is to serve: to the address in AddressVar, if it is set, else stdin and
// stdout.
func Connect(stdin io.Reader, stdout io.Writer) (io.ReadWriteCloser, error) {
	address := os.Getenv(AddressVar)
	if address == "" {
		return stdio{stdin, stdout}, nil
	}
	network, where, _ := strings.Cut(address, ":")
	if network != string(Unix) && network != string(TCP) {
		return nil, fmt.Errorf("%s is %q, expected unix:PATH or tcp:HOST:PORT", AddressVar, address)
	}
	conn, err := net.Dial(network, where)
	if err != nil {
		return nil, err
	}
	var m message
	m.begin()
	m.str(os.Getenv(TokenVar))
	if _, err := conn.Write(m.frame()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

type stdio struct {
	io.Reader
	io.Writer
}

func (stdio) Close() error { return nil }

// Serve answers requests for a simulator until the connection ends.
func Serve(conn io.ReadWriter, sim *bisect.Sim, build string) error {
	s := NewServer(sim, build)
	r := bufio.NewReaderSize(conn, 64<<10)
	var buf bytes.Buffer
	for {
		b, err := readFrame(r, &buf, maxState)
		if err == io.EOF {
			return s.Close()
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
		frame, err := s.answer(b)
		if err == nil {
			_, err = conn.Write(frame)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
}

// Server answers requests for one simulator, one at a time.
type Server struct {
	sim   *bisect.Sim
	build string

	header *orderlog.Header
	at     bisect.Simulator // nil before start or load

	req    values
	reply  message
	orders []orderlog.Order
	ticks  [][]orderlog.Order
}

// NewServer returns a server of a simulator. It reports the given build.
func NewServer(sim *bisect.Sim, build string) *Server { return &Server{sim: sim, build: build} }

// Close frees the instance that is running.
func (s *Server) Close() error { return s.replace(nil) }

// replace puts another instance in place of the one that is running.
func (s *Server) replace(by bisect.Simulator) error {
	old := s.at
	s.at = by
	return bisect.Close(old)
}

// Answer returns the value of the reply to the value of a request, good until the next
// call. An error is for bytes that are not a request.
func (s *Server) Answer(request []byte) (reply []byte, err error) {
	frame, err := s.answer(request)
	if err != nil {
		return nil, err
	}
	return frame[lengthSize:], nil
}

// answer returns the frame of the reply to a request. An error is for bytes that
// are not a request.
func (s *Server) answer(b []byte) ([]byte, error) {
	if err := s.req.read(b); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	s.req.tuple(3, "request")
	id, method := s.req.uint("id"), s.req.str("method")
	params := s.req.array("parameters")
	if s.req.err != nil {
		return nil, s.req.err
	}
	s.reply.accept(id)
	if err := s.do(method, params); err != nil {
		s.reply.refuse(id, method, err)
	}
	return s.reply.frame(), nil
}

// do reads a request's parameters and writes its result.
func (s *Server) do(method string, params int) error {
	m, ok := served[method]
	if !ok {
		return errors.New("no such request")
	}
	if params != m.params {
		return fmt.Errorf("%d parameters, expected %d", params, m.params)
	}
	if m.running && s.at == nil {
		return errors.New("no session has been started")
	}
	return ended(func() { m.do(s) })
}

// served is the only table of requests: how many parameters each has, and whether a session must be running.
var served = map[string]struct {
	params  int
	running bool
	do      func(*Server)
}{
	helloMethod:    {2, false, (*Server).hello},
	startMethod:    {1, false, (*Server).start},
	stepMethod:     {2, true, (*Server).step},
	stateMethod:    {0, true, as(bisect.CanState, (*Server).state)},
	saveMethod:     {0, true, as(bisect.CanState, (*Server).state)},
	restoreMethod:  {1, false, (*Server).restore},
	loadMethod:     {2, false, (*Server).load},
	beginMethod:    {2, true, as(bisect.CanSystems, (*Server).begin)},
	nextMethod:     {0, true, as(bisect.CanSystems, (*Server).next)},
	cachesMethod:   {0, true, as(bisect.CanCaches, (*Server).caches)},
	validateMethod: {2, true, as(bisect.CanValidate, (*Server).validate)},
	testMethod:     {2, true, as(bisect.CanTest, (*Server).test)},
	predictMethod:  {3, true, as(bisect.CanPredict, (*Server).predict)},
	ordersMethod:   {0, true, as(bisect.CanOrders, (*Server).forms)},
	whereMethod:    {4, true, as(bisect.CanWhere, (*Server).where)},
}

// as returns the answer to a request that needs more than a bisect.Simulator.
func as[T bisect.Simulator](c bisect.Capability, do func(s *Server, sim T)) func(*Server) {
	return func(s *Server) {
		sim, ok := bisect.As[T](s.at, c)
		if !ok {
			ensure(ErrUnsupported)
		}
		do(s, sim)
	}
}

func (s *Server) hello() {
	s.req.uint("version")
	s.req.str("client")
	ensure(s.req.err)
	a := about{version: Version, Name: s.sim.Name, Build: s.build, can: slices.Clone(s.sim.Can), maxRequest: maxState}
	if slices.Contains(a.can, bisect.CanState) && slices.Contains(a.can, bisect.CanLoad) {
		a.can = append(a.can, bisect.CanSave)
	}
	s.reply.entries(a.entries())
}

func (s *Server) start() {
	h := s.readHeader()
	sim, err := s.sim.Start(h)
	s.arrived(sim, h, err)
}

func (s *Server) readHeader() *orderlog.Header {
	b := s.req.raw("header")
	ensure(s.req.err)
	return must(orderlog.ParseHeader(bytes.Clone(b)))
}

// arrived takes over an instance and answers where it is.
func (s *Server) arrived(sim bisect.Simulator, h *orderlog.Header, err error) {
	ensure(err)
	s.header = h
	ensure(s.replace(sim))
	s.reply.array(2)
	s.reply.uint(sim.Point())
	s.hash()
}

func (s *Server) hash() {
	h := s.at.SyncHash()
	s.reply.bin(h[:])
}

// readOrders reads the orders of a tick.
func (s *Server) readOrders(tick uint64) {
	b := s.req.raw("orders")
	ensure(s.req.err)
	var err error
	s.orders, err = orderlog.ParseOrders(s.orders[:0], bytes.Clone(b), tick) // b is used again
	ensure(err)
}

// readTick reads the tick that a request is for.
func (s *Server) readTick() uint64 {
	tick := s.req.uint("tick")
	if s.req.err == nil && tick != s.at.Point() {
		ensure(fmt.Errorf("tick %d, the state is at point %d", tick, s.at.Point()))
	}
	ensure(s.req.err)
	return tick
}

func (s *Server) step() {
	tick := s.readTick()
	n := s.req.array("ticks")
	s.ticks = s.ticks[:0]
	for i := range n {
		s.readOrders(tick + uint64(i))
		s.ticks = append(s.ticks, s.orders)
		s.orders = nil
	}
	ensure(s.req.err)
	hashes := make([]byte, 0, n*merkle.ShortSize)
	for i, orders := range s.ticks {
		if err := s.at.Step(orders); err != nil {
			ensure(fmt.Errorf("tick %d: %w", tick+uint64(i), err))
		}
		h := s.at.SyncHash()
		hashes = append(hashes, h[:]...)
	}
	s.reply.bin(hashes)
}

// state answers save as well: a .snap is as good as another format.
func (s *Server) state(saver bisect.Saver) {
	w := must(saver.World())
	b := must(snapshot.Encode(w, snapshot.WriteOptions{Plain: true}))
	s.reply.bin(b)
}

func (s *Server) restore() {
	b := s.req.bin("save")
	ensure(s.req.err)
	if s.header == nil {
		ensure(errors.New("no session has been started"))
	}
	s.resume(b, s.header)
}

func (s *Server) load() {
	b := s.req.bin("state")
	none := s.req.null("header")
	ensure(s.req.err)
	if none {
		s.resume(b, nil)
		return
	}
	s.resume(b, s.readHeader())
}

func (s *Server) resume(b []byte, h *orderlog.Header) {
	w := must(snapshot.Decode(b, "the state"))
	sim, err := s.sim.Resume(w, h)
	s.arrived(sim, h, err)
}

func (s *Server) begin(stepper bisect.Stepper) {
	tick := s.readTick()
	s.readOrders(tick)
	orders := s.orders
	s.orders = nil // the step keeps them until it is done
	ensure(stepper.Begin(orders))
	s.reply.null()
}

func (s *Server) next(stepper bisect.Stepper) {
	system, more, err := stepper.Next()
	ensure(err)
	s.reply.array(3)
	s.reply.str(system)
	s.reply.bool(more)
	s.hash()
}

func (s *Server) caches(checker bisect.CacheChecker) {
	stale := must(checker.StaleCaches())
	s.reply.strs(stale)
}

func (s *Server) validate(v bisect.Validator) {
	s.readOrders(s.req.uint("tick"))
	why := must(v.Validate(s.orders))
	s.reply.strs(why)
}

func (s *Server) test(tester bisect.Tester) {
	tick := s.readTick()
	order := s.req.raw("order")
	ensure(s.req.err)
	const one = 0x91 // the head of an array of one element
	s.orders = must(orderlog.ParseOrders(s.orders[:0], append([]byte{one}, order...), tick))
	possible := must(tester.Test(&s.orders[0]))
	s.reply.array(2)
	s.reply.bool(possible)
	s.hash()
}

func (s *Server) predict(p bisect.Predictor) {
	tick := s.readTick()
	player := s.req.uint("player")
	s.readOrders(tick)
	ensure(p.Predict(uint32(player), s.orders))
	s.hash()
}

func (s *Server) where(l bisect.Locator) {
	archetype, column := s.req.str("archetype"), s.req.str("column")
	key := snapshot.Key{A: s.req.uint("key"), B: s.req.uint("second part of the key")}
	ensure(s.req.err)
	address, bytes, err := l.Where(archetype, column, key)
	ensure(err)
	s.reply.array(2)
	s.reply.uint(address)
	s.reply.uint32(bytes)
}
