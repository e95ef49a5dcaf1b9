//go:build unix

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// startPower is the power of both humans while they do nothing, in 1/2³².
const startPower = int64(1300) << 32

// maxPlayerPower is the maximum distance in memory between the power of two players.
const maxPlayerPower = 512

// pokePower changes the power of a player, 0 or 1, in the memory of a running game. It finds the value because both
// players have the same: two equal numbers close to each other in the program's own data.
func (p *warzonePeer) pokePower(player int, by int64) {
	pid := p.cmd.Process.Pid
	mem := try.Get(os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0))
	defer mem.Close()
	ranges := programData(pid)
	var found [][2]int64
	for _, r := range ranges {
		b := make([]byte, r[1]-r[0])
		n, err := mem.ReadAt(b, r[0])
		if n < len(b) {
			panic(try.Failed("memory of the game: %w", err))
		}
		last := int64(-1)
		for at := int64(0); at+8 <= int64(len(b)); at += 8 {
			if int64(binary.LittleEndian.Uint64(b[at:])) != startPower {
				continue
			}
			if last >= 0 && at-last <= maxPlayerPower {
				found = append(found, [2]int64{r[0] + last, r[0] + at})
			}
			last = at
		}
	}
	for i := range found { // more players' numbers may follow
		if i > 0 && found[i][0] != found[i-1][1] {
			panic(try.Failed("the power of two players is in memory in several places: %x", found))
		}
	}
	if len(found) == 0 {
		panic(try.Failed("the power of two players is not in memory"))
	}
	pokeNumber(mem, found[0][player], by)
}

func pokeNumber(mem *os.File, at, by int64) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(startPower+by))
	try.Get(mem.WriteAt(b, at))
}

// programData returns the memory ranges of a process with the program's own variables.
func programData(pid int) (list [][2]int64) {
	maps := try.Get(os.Open(fmt.Sprintf("/proc/%d/maps", pid)))
	defer maps.Close()
	own := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		named := len(fields) > 5
		own = named && fields[5] == warzoneProgram || own && !named
		from, to, ok := strings.Cut(fields[0], "-")
		if !own || !ok || !strings.HasPrefix(fields[1], "rw") {
			continue
		}
		a, err1 := strconv.ParseInt(from, 16, 64)
		z, err2 := strconv.ParseInt(to, 16, 64)
		if err1 == nil && err2 == nil {
			list = append(list, [2]int64{a, z})
		}
	}
	return list
}
