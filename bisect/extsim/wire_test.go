package extsim

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// fixed is a game with its state point as hash.
type fixed struct{ point uint64 }

func (f *fixed) Point() uint64                 { return f.point }
func (f *fixed) Step(_ []orderlog.Order) error { f.point++; return nil }
func (f *fixed) SyncHash() merkle.Short        { return merkle.Short{byte(f.point)} }

func fixedSim() *bisect.Sim {
	return &bisect.Sim{
		Name:   "fixed",
		Start:  func(h *orderlog.Header) (bisect.Simulator, error) { return &fixed{}, nil },
		Resume: func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) { return nil, ErrUnsupported },
	}
}

// TestDocumentedBytes compares the example of docs/extsim.md with what is sent.
func TestDocumentedBytes(t *testing.T) {
	page, err := os.ReadFile("../../docs/extsim.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(page)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "> 93") || strings.HasPrefix(line, "< 93") {
			want = append(want, strings.Join(strings.Fields(line)[:2], " "))
		}
	}
	var got []string
	server := NewServer(fixedSim(), "1")
	sim := Over("fixed", Options{}, func() (*Call, error) {
		return &Call{
			Do: func(request []byte, _ time.Duration) ([]byte, error) {
				got = append(got, "> "+hex.EncodeToString(request))
				reply, err := server.Answer(request)
				got = append(got, "< "+hex.EncodeToString(reply))
				return reply, err
			},
			Release: server.Close,
		}, nil
	})
	s, err := sim.Start(&orderlog.Header{Seed: 7, Kinds: []orderlog.OrderKind{{Name: "go"}}})
	if err != nil {
		t.Fatal(err)
	}
	ticks := [][]orderlog.Order{nil, {{Tick: 1, Player: 2, Sequence: 3, Payload: []byte{5}}}}
	hashes, err := s.(bisect.Batcher).Run(nil, ticks)
	if err != nil {
		t.Fatal(err)
	}
	if len(hashes) != 2 || hashes[1] != (merkle.Short{2}) || s.Point() != 2 {
		t.Errorf("hashes %v at point %d", hashes, s.Point())
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("docs/extsim.md has\n%s\nwhat is sent is\n%s", w, g)
	}
	var m message
	m.begin()
	m.raw([]byte("12345678901234567890 "))
	if !strings.Contains(string(page), "`"+hex.EncodeToString(m.frame()[:lengthSize])+" "+strings.TrimPrefix(want[0], "> ")+"`") {
		t.Error("docs/extsim.md has another length of the first frame")
	}
}
