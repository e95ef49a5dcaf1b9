package queue

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/desynctool/desynctool/internal/prose"
)

// ending is how a job ended.
type ending int

// Endings of jobs.
const (
	done     ending = iota // its reports are written
	skipped                // there was nothing left to do
	aside                  // its bundle is set aside
	tried                  // it could not be done here
	returned               // the worker was stopped
	lost                   // another worker has it
)

// seconds are the upper bounds of the buckets for triage times.
var seconds = [...]float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}

// Metrics counts the work of a worker. The zero value is ready for use.
type Metrics struct {
	mu     sync.Mutex
	ended  [lost + 1]int
	within [len(seconds)]int // done bundles by seconds, each counted in one bucket
	sum    float64           // total seconds of done
}

func (m *Metrics) count(how ending, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[how]++
	if how != done {
		return
	}
	m.sum += took.Seconds()
	for i, bound := range seconds {
		if took.Seconds() <= bound {
			m.within[i]++
			break
		}
	}
}

func (m *Metrics) summary() Summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Summary{Done: m.ended[done] + m.ended[skipped], Aside: m.ended[aside], Tried: m.ended[tried]}
}

// line describes the progress of a worker.
func (m *Metrics) line(c Counts) string {
	s := m.summary()
	line := fmt.Sprintf("%d done, %d waiting, %d running", s.Done, c.Waiting, c.Running)
	if s.Aside > 0 {
		line += fmt.Sprintf(", %s set aside", prose.Count(s.Aside, "bundle", "bundles"))
	}
	if c.Later > 0 {
		line += fmt.Sprintf(", %d tried again later", c.Later)
	}
	return line
}

// write writes the metrics in the text format of Prometheus.
func (m *Metrics) write(out io.Writer, c Counts) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := "# HELP desynctool_desk_jobs Jobs of the queue, of all workers.\n# TYPE desynctool_desk_jobs gauge\n"
	text += fmt.Sprintf("desynctool_desk_jobs{state=\"waiting\"} %d\ndesynctool_desk_jobs{state=\"running\"} %d\ndesynctool_desk_jobs{state=\"later\"} %d\n", c.Waiting, c.Running, c.Later)
	text += "# HELP desynctool_desk_bundles_total Bundles of this worker, by what became of them.\n# TYPE desynctool_desk_bundles_total counter\n"
	for how, name := range [...]string{done: "done", skipped: "skipped", aside: "aside", tried: "tried", returned: "returned", lost: "lost"} {
		text += fmt.Sprintf("desynctool_desk_bundles_total{end=%q} %d\n", name, m.ended[how])
	}
	text += "# HELP desynctool_desk_bundle_seconds How long bundles took that are done, of this worker.\n# TYPE desynctool_desk_bundle_seconds histogram\n"
	below := 0
	for i, bound := range seconds {
		below += m.within[i]
		text += fmt.Sprintf("desynctool_desk_bundle_seconds_bucket{le=%q} %d\n", strconv.FormatFloat(bound, 'g', -1, 64), below)
	}
	text += fmt.Sprintf("desynctool_desk_bundle_seconds_bucket{le=\"+Inf\"} %d\ndesynctool_desk_bundle_seconds_sum %g\ndesynctool_desk_bundle_seconds_count %d\n", m.ended[done], m.sum, m.ended[done])
	_, err := io.WriteString(out, text)
	return err
}

// Serve answers GET /metrics at a loopback address until end is called. at is the address, with the actual port if the
// given port was 0.
func (m *Metrics) Serve(ctx context.Context, q *Queue, address string) (at string, end func() error, err error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", nil, fmt.Errorf("%s is not an address of loopback, such as 127.0.0.1:9100", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		c, err := q.Counts(r.Context())
		if err != nil {
			http.Error(w, "the desk cannot be reached", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = m.write(w, c) // the client may have gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	go server.Serve(l)
	return l.Addr().String(), server.Close, nil
}
