package sums_test

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// TestDivide: peers of several matches in one log are compared within their match.
func TestDivide(t *testing.T) {
	rooms := map[string][]string{"R-118": {"ann", "bob", "cleo"}, "R-204": {"dan", "eve"}, "R-077": {"fred", "gil", "hana"}}
	for _, c := range []struct {
		name, form string
		shared     bool // all play one match, the word says something else
		bad, want  string
	}{
		{"clean", "[relay] lobby=ROOM tick=TICK client=PEER crc=SUM rtt=PING", false, "", ""},
		{"one differs", "[relay] lobby=ROOM tick=TICK client=PEER crc=SUM rtt=PING", false, "eve", "20 lobby R-204"},
		{"another word", "10:00 tick TICK from player=PEER room ROOM: checksum SUM", false, "gil", "20 room R-077"},
		{"a member", `{"gameId":"ROOM","turn":TICK,"player":"PEER","hash":"SUM"}`, false, "bob", "20 game R-118"},
		{"no word for a match", "[relay] os=ROOM tick=TICK client=PEER crc=SUM rtt=PING", true, "eve", "20 "},
		{"one match with such a word", "[relay] shard=ROOM tick=TICK client=PEER crc=SUM rtt=PING", true, "eve", "20 "},
	} {
		var log strings.Builder
		for tick := 1; tick <= 40; tick++ {
			for _, room := range []string{"R-118", "R-204", "R-077"} {
				for n, peer := range rooms[room] {
					sum := crc32.ChecksumIEEE(fmt.Append(nil, tick))
					if !c.shared {
						sum = crc32.ChecksumIEEE(fmt.Append(nil, room, tick))
					}
					if peer == c.bad && tick >= 20 {
						sum ^= 0x5bd1
					}
					log.WriteString(strings.NewReplacer("ROOM", room, "TICK", fmt.Sprint(tick), "PEER", peer, "SUM", fmt.Sprintf("%08x", sum), "PING", fmt.Sprint(20+tick*n%7)).Replace(c.form) + "\n")
				}
			}
		}
		text := log.String()
		p := sums.Learn([]byte(text), "x")
		if alone := sums.LearnAlone([]byte(text)); alone != nil {
			p = alone
		}
		f := sums.Divide([]sums.Sample{{Pattern: p, Text: []byte(text)}})[0].Pattern.Format()
		path := filepath.Join(t.TempDir(), "relay.log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		traces, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
		if err != nil || len(traces) != 8 {
			t.Fatalf("%s: %d peers, %v", c.name, len(traces), err)
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r.First != nil {
			got = fmt.Sprint(r.First.Tick, " ", r.First.Scope)
		}
		if got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}
