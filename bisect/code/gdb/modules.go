package gdb

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect/code"
)

// modules are the files that are mapped into a process.
type modules []module

type module struct {
	path       string
	start, end uint64
	base       uint64 // of the file's first byte in memory
}

// find returns the file that has an address, and the offset there. Where the system does not list them, it returns nothing.
func (m *modules) find(pid int, address uint64) (path string, offset uint64) {
	for range 2 {
		for _, one := range *m {
			if one.start <= address && address < one.end {
				return one.path, address - one.base
			}
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)) // a library may have been loaded since
		if err != nil {
			return "", 0
		}
		*m = parseMaps(b)
	}
	return "", 0
}

// parseMaps reads the list of what is mapped, as Linux writes it.
func parseMaps(b []byte) (list modules) {
	base := map[string]uint64{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || !strings.HasPrefix(f[5], "/") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		m := module{path: strings.Join(f[5:], " ")}
		var err1, err2 error
		m.start, err1 = strconv.ParseUint(from, 16, 64)
		m.end, err2 = strconv.ParseUint(to, 16, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		if _, known := base[m.path]; !known {
			base[m.path] = m.start
		}
		m.base = base[m.path]
		list = append(list, m)
	}
	return list
}

// own returns the innermost call in the game's own code: a write is often made by a function of the system that copies
// memory.
func own(stack code.Stack) code.Place {
	for _, p := range stack {
		if !system(p.Module) {
			return p
		}
	}
	if len(stack) == 0 {
		return code.Place{}
	}
	return stack[0]
}

// system reports whether a module belongs to the system.
func system(path string) bool {
	return slices.ContainsFunc([]string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"}, func(dir string) bool {
		return strings.HasPrefix(path, dir)
	})
}
