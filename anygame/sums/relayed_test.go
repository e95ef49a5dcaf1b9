package sums_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// relayedLog writes the only log of a session: each of some peers reports its checksums, at other times than the others.
func relayedLog(form string, peers []string, sum func(peer string, tick int) uint32) string {
	var out strings.Builder
	for round := 1; round <= 44; round++ {
		for n, peer := range peers {
			if tick := round - 2*n; tick > 0 && tick <= 40 {
				out.WriteString(strings.NewReplacer("TICK", fmt.Sprint(tick), "PEER", peer, "CONN", fmt.Sprint(1000+n*77), "SUM", fmt.Sprintf("%08x", sum(peer, tick)), "DEC", fmt.Sprint(sum(peer, tick))).Replace(form) + "\n")
			}
		}
		fmt.Fprintf(&out, "level=info msg=stats rooms=%d\n", round%7)
	}
	return out.String()
}

// TestRelayed finds the field that names the peer in the only log of a session.
func TestRelayed(t *testing.T) {
	same := func(_ string, tick int) uint32 { return crc32.ChecksumIEEE([]byte{byte(tick)}) }
	apart := func(peer string, tick int) uint32 {
		if tick >= 30 && strings.HasPrefix(peer, "b") {
			return same("", tick) ^ 0x5bd1e995
		}
		return same("", tick)
	}
	parts := func(peer string, tick int) uint32 { return crc32.ChecksumIEEE([]byte(fmt.Sprint(peer, tick))) }
	guesses := func(peer string, tick int) uint32 {
		if peer == "early" && tick%3 == 0 {
			return ^same("", tick)
		}
		return same("", tick)
	}
	names := []string{"ann", "bob", "cleo"}
	for _, c := range []struct {
		name, form string
		peers      []string
		sum        func(string, int) uint32
		want       bool // the log is of several peers
	}{
		{"a player, far before", "level=info room=kq7 conn=CONN user=PEER took=5 msg=report step=TICK digest=SUM rtt=31", names, apart, true},
		{"equal ones", "conn=CONN user=PEER step=TICK digest=SUM", names, same, true},
		{"an address", "12:01 [debug] node=PEER@10.0.0.7 pid=<0.CONN.0> beat=TICK phash2=DEC queue=3", names, apart, true},
		{"in brackets", "[info] [PEER] got report, tick TICK checksum SUM", names, apart, true},
		{"another word", "from=PEER tick=TICK checksum=SUM", names, apart, true},
		{"before a colon", "PEER: frame TICK checksum: DEC", names, apart, true},
		{"before a bar", "PEER-1  | [0.CONN] INFO frame TICK checksum: DEC", names, apart, true},
		{"after a word", "[0.CONN] INFO from PEER: tick=TICK hash=0xSUM", names, apart, true},
		{"at the end", "tick TICK checksum SUM from PEER", names, apart, true},
		{"JSON Lines", `{"ts":CONN,"peer":"PEER","tick":TICK,"crc":DEC}`, names, apart, true},
		{"parts of a state", "table=PEER tick=TICK checksum=SUM", names, parts, false},
		{"parts of a program", "[PEER] x=1 report, tick TICK checksum SUM", []string{"sim", "net"}, same, false},
		{"guesses", "pass=PEER x=1 tick=TICK checksum=SUM", []string{"early", "late"}, guesses, false},
	} {
		log := relayedLog(c.form, c.peers, c.sum)
		p := sums.LearnAlone([]byte(log))
		if p == nil || !c.want {
			if p != nil || c.want {
				t.Errorf("%s: %v", c.name, p != nil)
			}
			continue
		}
		f := p.Format()
		list, err := f.Peers(strings.NewReader(log), "journal.txt")
		if err != nil || len(list) != len(c.peers) || !strings.HasPrefix(list[1], c.peers[1]) {
			t.Errorf("%s: %q, %v", c.name, list, err)
			continue
		}
		got := map[int]string{}
		for n := range list {
			s, err := f.Read(strings.NewReader(log), "journal.txt", n)
			if err != nil {
				t.Fatal(err)
			}
			for r, err := s.Next(); err == nil; r, err = s.Next() {
				if r.Checkpoint.Tick == 30 {
					got[n] = string(r.Checkpoint.Sums[0].Value)
				}
			}
		}
		differ := c.sum("bob", 30) != c.sum("ann", 30)
		if len(got) != 3 || got[0] != got[2] || (got[0] != got[1]) != differ {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestThreads: threads and parts of a program that report equal checksums are no peers, and a name before them is.
func TestThreads(t *testing.T) {
	var threads, parts, peers strings.Builder
	for tick := 1; tick <= 120; tick++ {
		sum := crc32.ChecksumIEEE([]byte{byte(tick)})
		fmt.Fprintf(&parts, "hasher: tick %d checksum %08x\nnetcode: will send checksum %08x of tick %d\n", tick, sum, sum, tick)
		for n, peer := range []string{"ann", "bob", "cleo"} {
			thread := (tick*7+n*5+tick*n)%9 + 1
			fmt.Fprintf(&threads, "[T%d] tick %d checksum %08x\n", thread, tick, sum)
			fmt.Fprintf(&peers, "%s: 12:00:%02d [T%d] tick %d checksum %08x\n", peer, tick%60, thread, tick, sum)
		}
	}
	for text, want := range map[string]string{threads.String(): "", parts.String(): "", peers.String(): "ann bob cleo"} {
		got := ""
		if p := sums.LearnAlone([]byte(text)); p != nil && p.Format().Peers != nil {
			list, err := p.Format().Peers(strings.NewReader(text), "journal.txt")
			if err != nil {
				t.Fatal(err)
			}
			got = strings.Join(list, " ")
		}
		if got != want {
			t.Errorf("peers %q, want %q: %.60s", got, want, text)
		}
	}
}
