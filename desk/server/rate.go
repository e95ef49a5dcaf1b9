package server

import (
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Rate limits how often an action is allowed: Often times a minute in the long run, Burst times at once.
type Rate struct {
	Often float64
	Burst int
}

// maxBuckets limits the memory of a table of buckets to about 10 MB. If there are more, full buckets are dropped first.
const maxBuckets = 1 << 16

// buckets are token buckets by key.
type buckets struct {
	rate Rate
	mu   sync.Mutex
	by   map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newBuckets(r Rate) *buckets { return &buckets{rate: r, by: map[string]*bucket{}} }

// look refills the bucket of a key for the elapsed time.
func (b *buckets) look(key string, now time.Time) *bucket {
	k := b.by[key]
	if k == nil {
		if len(b.by) >= maxBuckets {
			b.sweep(now)
		}
		k = &bucket{float64(b.rate.Burst), now}
		b.by[key] = k
	}
	if d := now.Sub(k.at); d > 0 {
		k.left = min(float64(b.rate.Burst), k.left+d.Minutes()*b.rate.Often)
	}
	k.at = now
	return k
}

// sweep drops the buckets that are full again, and all buckets if none is full.
func (b *buckets) sweep(now time.Time) {
	for key, k := range b.by {
		if k.left+now.Sub(k.at).Minutes()*b.rate.Often >= float64(b.rate.Burst) {
			delete(b.by, key)
		}
	}
	if len(b.by) >= maxBuckets {
		clear(b.by)
	}
}

// take takes one from the bucket of a key. If it is empty, wait is the time until there is one.
func (b *buckets) take(key string, now time.Time) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.look(key, now)
	if k.left < 1 {
		return time.Duration((1 - k.left) / b.rate.Often * float64(time.Minute)), false
	}
	k.left--
	return 0, true
}

// neighbourhood returns the key for a request's rate: an IPv4 address, or the 64-bit network that one IPv6 holder has.
func neighbourhood(a netip.Addr) string {
	if a = a.Unmap(); a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// share is the part of a limit that all share that one sender has.
func share[T int | int64](limit T) T { return max(1, limit/20) }

// sender identifies a request for the limits that all share: by its token, and by its address if that is not this
// machine. A part that has no share of its own is empty.
type sender struct{ token, place string }

func (d *Door) sender(r *http.Request) (s sender) {
	if v := VisitorOf(r.Context()); v.how != asLocal {
		s.token = v.Name
	}
	if place := d.address(r); !place.IsLoopback() {
		s.place = neighbourhood(place)
	}
	return s
}

// keys are the sender's parts with a share, for a map that has both.
func (s sender) keys() (keys []string) {
	if s.token != "" {
		keys = append(keys, "token "+s.token)
	}
	if s.place != "" {
		keys = append(keys, "address "+s.place)
	}
	return keys
}

// places counts uploads in progress, in total and by the keys of senders.
type places struct {
	mu    sync.Mutex
	all   int
	taken int
	by    map[string]int
}

// enter takes a place, and leave releases it.
func (p *places) enter(s sender) (leave func(), ok bool) {
	keys := s.keys()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.all || slices.ContainsFunc(keys, func(key string) bool { return p.by[key] >= share(p.all) }) {
		return nil, false
	}
	p.taken++
	for _, key := range keys {
		p.by[key]++
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken--
		for _, key := range keys {
			if p.by[key]--; p.by[key] == 0 {
				delete(p.by, key)
			}
		}
	}), true
}
