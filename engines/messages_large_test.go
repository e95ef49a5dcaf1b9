package engines_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// repeated is a text again and again, as long as it is read.
type repeated struct {
	text []byte
	at   int
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		k := copy(b[n:], r.text[r.at:])
		n, r.at = n+k, (r.at+k)%len(r.text)
	}
	return n, nil
}

// BenchmarkScanLarge reads a log of 1 GiB with a claim in its last line, as a stream: one of network messages, which
// have parts of literals everywhere, and one of another program.
func BenchmarkScanLarge(b *testing.B) {
	const size = 1 << 30
	for name, text := range map[string]string{
		"another program": filler,
		"OpenTTD":         "[2026-04-28 20:04:21] dbg: [net:9] Client::Receive_SERVER_COMMAND(): cmd=79, frame=2008707\n",
		"Stratagus":       "GameCycle: 145d, new SyncHash: 206020a (unit: 0:unit-gold-mine, order: 1, refs: 1)\ngame(+0x4a0b4)[0x55db494780b4]\n",
	} {
		b.Run(name, func(b *testing.B) {
			claim := content(b, "faf-2.log")
			body := bytes.Repeat([]byte(text), 1<<20/len(text))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				in := io.MultiReader(io.LimitReader(&repeated{text: body}, size), strings.NewReader("\n"), bytes.NewReader(claim))
				if log, err := scan(in, "x"); err != nil || len(log.Claims) != 1 {
					b.Fatal(log, err)
				}
			}
		})
	}
}
