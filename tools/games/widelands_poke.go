//go:build unix

package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// widelandsAct is an act in a game's queue. In memory it begins with a pointer to the functions of its class, followed
// by the due time (u32), the acting object (u32), and an argument (u32).
type widelandsAct struct {
	at     int64 // address in memory
	class  uint64
	due    uint32
	object uint32
}

// pokeWidelands changes the object of a queued act to the next one, 10 to 30 seconds before it is due, while the game
// is stopped. The class of acts is not known in advance, but no other class has as many objects that look like an act.
func pokeWidelands(p *widelandsPeer, random *rand.Rand) (due, from, to uint64) {
	pid := p.game.Process.Pid // nsenter and nice have become the game
	try.Check(syscall.Kill(pid, syscall.SIGSTOP))
	defer syscall.Kill(pid, syscall.SIGCONT)
	time.Sleep(100 * time.Millisecond)
	now := p.now()
	mem := try.Get(os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0))
	defer mem.Close()
	acts := widelandsActs(pid, mem, uint32(now))
	acts = slices.DeleteFunc(acts, func(a widelandsAct) bool { return a.due < uint32(now)+15_000 || a.due > uint32(now)+30_000 })
	if len(acts) == 0 {
		panic(try.Failed("no act waits in the queue"))
	}
	slices.SortFunc(acts, func(a, b widelandsAct) int { return int(a.due) - int(b.due) })
	a := acts[random.IntN(len(acts))]
	try.Get(mem.WriteAt(binary.LittleEndian.AppendUint32(nil, a.object+1), a.at+12))
	return uint64(a.due), uint64(a.object), uint64(a.object) + 1
}

// widelandsActs returns objects that look like acts due within a minute.
func widelandsActs(pid int, mem io.ReaderAt, now uint32) []widelandsAct {
	maps := try.Get(os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)))
	type span struct{ from, to uint64 }
	var written []span
	var classes span
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		var s span
		try.Get(fmt.Sscanf(f[0], "%x-%x", &s.from, &s.to))
		switch {
		case len(f) > 5 && strings.HasSuffix(f[5], "/widelands") && f[1] == "r--p":
			classes = s // the last one becomes read-only after the program is linked
		case strings.HasPrefix(f[1], "rw") && (len(f) < 6 || f[5] == "[heap]"):
			written = append(written, s)
		}
	}
	byClass := map[uint64][]widelandsAct{}
	for _, s := range written {
		b := make([]byte, s.to-s.from)
		if _, err := mem.ReadAt(b, int64(s.from)); err != nil {
			continue // the kernel does not give access to all
		}
		for i := 0; i+24 <= len(b); i += 8 {
			a := widelandsAct{int64(s.from) + int64(i), binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint32(b[i+8:]), binary.LittleEndian.Uint32(b[i+12:])}
			if a.class >= classes.from && a.class < classes.to && a.due > now && a.due < now+60_000 && a.object > 0 && a.object < 5000 {
				byClass[a.class] = append(byClass[a.class], a)
			}
		}
	}
	var most []widelandsAct
	for _, list := range byClass {
		if len(list) > len(most) {
			most = list
		}
	}
	return most
}
