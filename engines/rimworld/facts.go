package rimworld

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
)

// facts are what the files next to the traces contain about the client that wrote them.
type facts struct {
	build string // of the mod
	meta  map[string]string
}

// infoFacts are the lines of desync_info, "NAME|||VALUE", by the names of facts.
var infoFacts = map[string]string{
	"Rimworld Version and Rev": "version", "Processor Name": "cpu", "Thread Count": "threads",
	"GPU Name": "gpu", "OS Name and Version": "os",
}

// maxFacts is how many bytes of a file of facts are read, and maxMods how many of the list
// of mods are kept.
const (
	maxFacts = 1 << 20
	maxMods  = 32 << 10
)

// readFacts reads desync_info and local_metadata.txt next to a file of traces, as far as they exist. Facts that cannot
// be read are not known.
func readFacts(tree files.Tree, path string) facts {
	f := facts{meta: map[string]string{}}
	folder := filepath.Dir(path)
	eachLine(tree, filepath.Join(folder, "desync_info"), func(line string) bool {
		name, value, ok := strings.Cut(line, "|||")
		value = strings.TrimSpace(value)
		switch key := infoFacts[name]; {
		case !ok || value == "":
		case name == "Multiplayer Mod Version":
			f.build = "Multiplayer " + value
		case key != "":
			f.meta[key] = value
		}
		return true
	})
	var mods []string
	size := 0
	begun := false
	eachLine(tree, filepath.Join(folder, "local_metadata.txt"), func(line string) bool {
		if !begun {
			begun = line == "Loaded mods:"
			return true
		}
		// Name(package id), its version, ": " and its assemblies.
		mod, _, ok := strings.Cut(line, ": ")
		if size += len(mod) + 2; !ok || size > maxMods {
			return false
		}
		mods = append(mods, mod)
		return true
	})
	if len(mods) > 0 {
		f.meta["mods"] = strings.Join(mods, ", ")
	}
	return f
}

// eachLine calls a function with the lines of a small text until it returns false.
func eachLine(tree files.Tree, path string, each func(line string) bool) {
	in, err := tree.Open(path)
	if err != nil {
		return
	}
	defer in.Close()
	lines := bufio.NewScanner(io.LimitReader(in, maxFacts))
	for lines.Scan() {
		if !each(strings.TrimSpace(lines.Text())) {
			return
		}
	}
}
