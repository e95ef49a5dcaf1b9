package warzone_test

import (
	"bytes"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/engines/warzone"
)

// TestAppend writes the messages of real recordings again.
func TestAppend(t *testing.T) {
	for _, name := range []string{ordersHostFile, ordersGammaFile} {
		b := ordersLoad(t, name)
		r, err := warzone.NewReplay(bytes.NewReader(b), name)
		if err != nil {
			t.Fatal(err)
		}
		times := 0
		for {
			m, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			out := m.Append(nil)
			if !bytes.HasPrefix(b[m.Offset:], out) || len(out) < 3 {
				t.Fatalf("%s: message at %d is %x", name, m.Offset, out)
			}
			if g, ok := m.GameTime(); ok && m.Type == warzone.TimeMessage {
				times++
				if got := g.Append(nil); !bytes.Equal(got, m.Payload) {
					t.Fatalf("%s: payload at %d is %x, want %x", name, m.Offset, got, m.Payload)
				}
			}
		}
		if end, ok := r.End(); end != 133 || !ok || times < 1900 {
			t.Errorf("%s: end %d %v, %d GAME_TIME", name, end, ok, times)
		}
	}
}

func TestAppendAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := warzone.GameTime{
			Latency:       rapid.Uint32().Draw(t, "latency"),
			CheckTime:     uint32(rapid.Uint64Range(0, math.MaxUint32).Draw(t, "time")) >> rapid.IntRange(0, 31).Draw(t, "shift"),
			CRC:           rapid.Uint16().Draw(t, "crc"),
			WantedLatency: rapid.Uint16().Draw(t, "wanted"),
		}
		m := warzone.Message{Type: warzone.TimeMessage, Payload: g.Append(nil)}
		if got, ok := m.GameTime(); !ok || got != g {
			t.Fatalf("%x: %+v %v, want %+v", m.Payload, got, ok, g)
		}
	})
}
