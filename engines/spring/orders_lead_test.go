package spring

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainStamp and plainLead do the same as stamp and cutLead in the plainest way.
func plainStamp(line string) (string, bool) {
	rest, ok := strings.CutPrefix(line, "[t=")
	now, _, closed := strings.Cut(rest, "]")
	return now, ok && closed && now != "" && strings.Trim(now, "0123456789:.") == ""
}

func plainLead(line string) (said string, begun int64) {
	begun = -1
	said, timed := strings.CutPrefix(line, "[t=")
	if timed {
		_, said, _ = strings.Cut(said, "]")
	} else if !isStamped([]byte(line)) {
		return "", begun
	}
	if rest, ok := strings.CutPrefix(said, "[f="); ok {
		i := max(0, strings.Index(rest, "]"))
		said = rest[min(i+1, len(rest)):]
		if n, err := strconv.ParseInt(rest[:min(i, 10)], 10, 32); err == nil && n >= 0 {
			begun = n
		}
	}
	for {
		said = strings.TrimLeft(said, " ")
		rest, ok := cutSpeaker([]byte(said))
		if !ok {
			return said, begun
		}
		said = string(rest)
	}
}

func TestLead(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{
		"[t=00:00:22.184280]", "[t=1x2]", "[t=]", "[t=12", "[f=0001012]", "[f=-000001]", "[f=0000000] ", "[f=", "[f=]", "[f=99999999999]", "Error: ", "[Game::ClientReadNet]", "[GameServer]", " ",
		"GameID: ", "Sync error for ", "S", "[", "]",
	}), rapid.StringMatching(`[0-9\[\]=:. ft]{0,6}`))
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(part, 0, 7).Draw(t, "line"), "")
		now, ok := stamp([]byte(line))
		if want, is := plainStamp(line); ok != is || ok && string(now) != want {
			t.Fatalf("time of %q: %q %v, want %q %v", line, now, ok, want, is)
		}
		said, begun := cutLead([]byte(line))
		if want, frame := plainLead(line); string(said) != want || logged(begun) != frame {
			t.Fatalf("%q: %q in frame %d, want %q in %d", line, said, logged(begun), want, frame)
		}
	})
}

// TestMarks holds what the second byte of a message may be against the marks of messages that begin
// with the same.
func TestMarks(t *testing.T) {
	for _, mark := range [][]byte{syncErrorMark, warningMark, messageMark} {
		p := infologParser{log: &Infolog{Players: map[uint32]string{}, Start: map[string]map[string]string{}}}
		line := bytes.Join([][]byte{[]byte("[t=00:00:01.000000] "), mark, []byte(`Bob" string="[PE::CalcChecksum][SHA_DATA=1]`)}, nil)
		p.line(line, 1, 0)
		if p.log.Malformed == 0 && len(p.log.Start) == 0 {
			t.Errorf("%q was passed over", line)
		}
	}
}

// BenchmarkGames splits a client's log by games.
func BenchmarkGames(b *testing.B) {
	text := bytes.Repeat([]byte("[t=00:00:22.184280][f=0001012] [Path] [PathEstimator::ReadFile] hash=dfc63d2f\n[t=00:00:22.184281][f=0001012] unit 12 at 400\n"), 1<<16)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if list, err := Games(bytes.NewReader(text), "infolog.txt"); err != nil || len(list) != 1 {
			b.Fatal(list, err)
		}
	}
}
