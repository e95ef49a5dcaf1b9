package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// strangers is how many connections without a valid token an address may have.
const strangers = 64

// keeper is a listener that limits the number of open connections, in total and for each address. If there is no room,
// it closes the connection that has been idle for longest, else the oldest one without a valid token, though it is busy.
// If all others are busy with a valid token, the next one waits.
type keeper struct {
	net.Listener
	max  int
	each bool // addresses belong to clients, not to a proxy

	mu    sync.Mutex
	room  sync.Cond // signalled when a connection is closed
	ended bool
	turn  uint64
	conns map[net.Conn]*held
}

// held is a connection.
type held struct {
	from  netip.Addr
	known bool // it has shown a valid token, or needs none
	idle  bool // no request is in progress
	since uint64
}

func newKeeper(l net.Listener, most int, each bool) *keeper {
	k := &keeper{Listener: l, max: most, each: each, conns: map[net.Conn]*held{}}
	k.room.L = &k.mu
	return k
}

// Accept implements net.Listener.
func (k *keeper) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return k.take(c), nil
}

// Close implements net.Listener.
func (k *keeper) Close() error {
	k.mu.Lock()
	k.ended = true
	k.room.Broadcast()
	k.mu.Unlock()
	return k.Listener.Close()
}

// take makes room for a connection.
func (k *keeper) take(c net.Conn) net.Conn {
	at, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	h := &held{from: at.Addr().Unmap(), idle: true}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.each {
		unknown := func(other *held) bool { return !other.known && other.from == h.from }
		n := 0
		for _, other := range k.conns {
			if unknown(other) {
				n++
			}
		}
		if n >= strangers {
			k.evict(unknown)
		}
	}
	for len(k.conns) >= k.max && !k.ended {
		if !k.evict(func(*held) bool { return true }) {
			k.room.Wait()
		}
	}
	kept := &keptConn{Conn: c, keeper: k}
	k.turn++
	h.since = k.turn
	k.conns[kept] = h
	return kept
}

// evict closes a connection for which of is true: the longest idle one, else the oldest one without a valid token.
func (k *keeper) evict(of func(*held) bool) bool {
	var oldest net.Conn
	for c, h := range k.conns {
		if !of(h) || !h.idle && h.known {
			continue
		}
		if o := k.conns[oldest]; o == nil || h.idle && !o.idle || h.idle == o.idle && h.since < o.since {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	delete(k.conns, oldest)
	_ = oldest.(*keptConn).Conn.Close()
	return true
}

// changed records which connections are idle.
func (k *keeper) changed(c net.Conn, state http.ConnState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.conns[plain(c)]; h != nil {
		k.turn++
		h.idle, h.since = state == http.StateNew || state == http.StateIdle, k.turn
	}
}

// plain returns the connection that Accept returned.
func plain(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

// keptConn is a connection that makes room when it is closed.
type keptConn struct {
	net.Conn
	keeper *keeper
}

func (c *keptConn) Close() error {
	k := c.keeper
	k.mu.Lock()
	delete(k.conns, c)
	k.room.Signal()
	k.mu.Unlock()
	return c.Conn.Close()
}

type connKey struct{}

// inConn stores the connection of a request in its context.
func inConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, plain(c))
}

// introduce records that the connection of a request has shown a valid token.
func introduce(ctx context.Context) {
	c, ok := ctx.Value(connKey{}).(*keptConn)
	if !ok {
		return
	}
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	if h := c.keeper.conns[c]; h != nil {
		h.known = true
	}
}
