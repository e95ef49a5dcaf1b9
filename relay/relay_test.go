package relay_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/relay"
)

func sealed(kind byte, schema, id uint32, content []byte) []byte {
	b := append([]byte("DF\x01"), kind)
	b = binary.LittleEndian.AppendUint64(b, 7)
	b = binary.LittleEndian.AppendUint32(b, schema)
	b = append(binary.LittleEndian.AppendUint32(b, id), content...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func numbers(all ...uint64) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func newRelay(t testing.TB) *relay.Relay {
	t.Helper()
	r, err := relay.New(relay.Options{Seed: 7, Peers: []string{"relay", "ann", "b\x1b[31mob"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func Example() {
	r, err := relay.New(relay.Options{Seed: 7, Peers: []string{"relay", "ann", "bob"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Receive(1, sealed(1, 5, 0, numbers(16, 0x1111))) // beats of point 16
	r.Receive(2, sealed(1, 5, 0, numbers(16, 0x2222)))
	for {
		to, packet := r.Send(100)
		if packet == nil {
			break
		}
		fmt.Printf("to peer %d: kind %d, %d bytes\n", to, packet[3], len(packet))
	}
	// Output:
	// to peer 1: kind 2, 40 bytes
	// to peer 2: kind 2, 40 bytes
	// to peer 1: kind 3, 56 bytes
	// to peer 2: kind 3, 56 bytes
}

func TestNew(t *testing.T) {
	for _, o := range []relay.Options{
		{Peers: []string{"relay", "ann"}}, {Peers: make([]string, 65)}, {Peers: []string{"relay", "ann", ""}},
		{Peers: []string{"relay", "ann", strings.Repeat("b", 1025)}}, {Peers: []string{"relay", "ann", "bob"}, Values: -1},
	} {
		if _, err := relay.New(o); err == nil {
			t.Errorf("%d peers, %d bytes of values: expected an error", len(o.Peers), o.Values)
		}
	}
}

// TestSame: beats that agree, or are of other points, start nothing.
func TestSame(t *testing.T) {
	r := newRelay(t)
	for point := uint64(0); point < 1600; point += 16 {
		r.Receive(1, sealed(1, 5, 0, numbers(point, point+1)))
		r.Receive(2, sealed(1, 5, 0, numbers(point+160, point+161)))
	}
	if _, packet := r.Send(1); packet != nil || r.Status() != relay.Watching {
		t.Errorf("status %d, packet %x", r.Status(), packet)
	}
}

// TestSilent: peers that do not answer are given up.
func TestSilent(t *testing.T) {
	r := newRelay(t)
	r.Receive(1, sealed(2, 5, 0, numbers(16, 0)))
	for now := uint64(0); now < 20_000; now += 25 {
		drain(t, r, now, nil)
	}
	if r.Status() != relay.Silent || r.Text() != "" {
		t.Errorf("status %d, %q", r.Status(), r.Text())
	}
}

// TestBuilds: peers with other schemas have other builds.
func TestBuilds(t *testing.T) {
	r := newRelay(t)
	r.Receive(1, sealed(1, 5, 0, numbers(16, 1)))
	r.Receive(2, sealed(1, 6, 0, numbers(16, 1)))
	for now := uint64(0); now < 5000; now += 25 {
		drain(t, r, now, func(to int, packet []byte) {
			if to == 1 && packet[3] == 3 {
				r.Receive(1, sealed(4, 5, binary.LittleEndian.Uint32(packet[16:]), append([]byte{0, 0}, append(numbers(0, 40), 0)...)))
			}
		})
	}
	if !strings.HasPrefix(r.Text(), "The peers describe their states otherwise") {
		t.Errorf("%q", r.Text())
	}
}

// TestEscaped: what peers call themselves and their columns does not reach a terminal as it is.
func TestEscaped(t *testing.T) {
	r := newRelay(t)
	report := append([]byte("DFR\x01\x00"), numbers(7, 17)...)
	report = append(report, 0xff, 0xff, 0)
	report = append(append(report, numbers(0)...), 2)
	report = append(report, numbers(2, 1, 1, 0, 4, 2, 2, 0)...)
	report = append(report, 1, 0, 0, 0, 1, 0, 0, 0, 1)
	report = append(report, "\x02\x1b[\x00\x01\n\x0d\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"...)
	report = append(append(report, numbers(9, 0)...), "\x01\x02a\x07\x01\x01\xff"...)
	chunk := binary.LittleEndian.AppendUint32([]byte{0, 0}, uint32(len(report)))
	r.Receive(1, sealed(5, 5, 3, append(chunk, report...)))
	want := `ann and b\x1b[31mob have different states since tick 16: \x1b[ .\x0a differs in 1 row.
\x1b[ .\x0a: 1 row
  #9 "a\x07" on ann, "\xff" on b\x1b[31mob
Found by ann; each peer's values are its own word.
`
	if r.Text() != want {
		t.Errorf("%q, expected %q", r.Text(), want)
	}
}

// drain sends all that is to be sent, and holds the limits of packets.
func drain(t testing.TB, r *relay.Relay, now uint64, take func(to int, packet []byte)) {
	for n := 0; ; n++ {
		to, packet := r.Send(now)
		if packet == nil {
			return
		}
		if to < 1 || to > 2 || len(packet) > 1000 || n > 10_000 {
			t.Fatalf("packet %d has %d bytes, for peer %d", n, len(packet), to)
		}
		if take != nil {
			take(to, packet)
		}
	}
}

// FuzzRelay: packets of any content. Of an input each byte decides what comes next, the bytes after it are the content.
func FuzzRelay(f *testing.F) {
	f.Add([]byte("\x00\x11\x02answers"))
	f.Add([]byte("\x02\x00\x12\x00\x22\x00\x13\x08\x23\x08\x30\x14\x08\x24\x08\x15\x08\x25\x08"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, sent := newRelay(t), [3]int{}
		var asked [3][]byte
		next := func() byte {
			if len(in) == 0 {
				return 0
			}
			b := in[0]
			in = in[1:]
			return b
		}
		some := func() []byte {
			n := min(int(next())*4, len(in), 976)
			b := in[:n]
			in = in[n:]
			return b
		}
		now := uint64(0)
		r.Receive(1, sealed(2, 5, 0, numbers(16, 0)))
		for len(in) > 0 {
			op := next()
			from := 1 + int(op>>4&1)
			switch question := asked[from]; {
			case op&3 == 0:
				r.Receive(from, sealed(op>>2&7, uint32(op>>7), uint32(next()), some()))
			case op&3 == 1:
				now += uint64(op>>2) * 20
			case question == nil:
			default: // answers all parts alike, from a few bytes that repeat
				content := some()
				for i := 0; i < int(question[20]) && len(content) > 0; i++ {
					part := question[21+31*i:]
					answer := []byte{part[0], 0}
					switch part[1] {
					case 1:
						answer = append(answer, append(numbers(0, 40+uint64(op>>7)), 0)...)
					case 3:
						answer = append(answer, numbers(1)...)
						answer = append(answer, 1, 0, 1, 'M')
					case 4:
						answer = append(answer, 1+op>>6, 0, 0, 0)
					case 5:
						answer = append(answer, 200, 1, 0, 0, 1+op>>6, 0, 0, 0)
					}
					for n := len(answer); len(answer) < min(950, n+200+4*len(content)); {
						answer = append(answer, content...)
					}
					r.Receive(from, sealed(4, 5, binary.LittleEndian.Uint32(question[16:]), answer[:min(len(answer), 976)]))
				}
			}
			drain(t, r, now, func(to int, packet []byte) {
				sent[to] += len(packet)
				if packet[3] == 3 {
					asked[to] = packet
				}
			})
		}
		if r.Status() == relay.Found != (r.Text() != "") {
			t.Errorf("status %d, text %q", r.Status(), r.Text())
		}
		for _, c := range r.Text() {
			if c < ' ' && c != '\n' || c > 126 {
				t.Fatalf("%q is not escaped", r.Text())
			}
		}
		if sent[1] > 1<<20 || sent[2] > 1<<20 {
			t.Errorf("%v bytes were sent to the peers", sent)
		}
	})
}
