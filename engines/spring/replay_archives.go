package spring

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// dataFolders returns the folders with games, maps and the engine's own content, which a run has in addition to its
// own.
func dataFolders(p *engine.Program) ([]string, error) {
	var dirs []string
	if given := p.Options["data"]; given != "" {
		for _, dir := range filepath.SplitList(given) {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			if info, err := os.Stat(abs); err != nil || !info.IsDir() {
				return nil, fmt.Errorf("data=%s: not a folder", dir)
			}
			dirs = append(dirs, abs)
		}
	} else if home, err := os.UserHomeDir(); err == nil {
		for _, dir := range []string{".spring", ".config/spring"} {
			if info, err := os.Stat(filepath.Join(home, dir)); err == nil && info.IsDir() {
				dirs = append(dirs, filepath.Join(home, dir))
			}
		}
	}
	path := p.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	beside := filepath.Dir(path)
	for _, dir := range []string{beside, filepath.Join(beside, "../share/games/spring"), "/usr/share/games/spring", "/usr/share/spring"} {
		dir = filepath.Clean(dir)
		if _, err := os.Stat(filepath.Join(dir, "base", "springcontent.sdz")); err == nil && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
			break
		}
	}
	for _, dir := range dirs {
		if strings.ContainsRune(dir, os.PathListSeparator) {
			return nil, fmt.Errorf("the folder %s: Spring cannot have %q in the name of one", dir, os.PathListSeparator)
		}
	}
	return dirs, nil
}

// archive is a game or map on the disk.
type archive struct {
	path  string
	names []string // by which start scripts call it; none if it cannot be read here
}

// archives are the games and maps in some folders.
type archives []archive

// archiveKinds are the extensions: a folder, zip, 7-Zip, a Rapid package. The last two are not read.
var archiveKinds = []string{".sdd", ".sdz", ".sd7", ".sdp"}

func readArchives(dirs []string) (archives, error) {
	var all archives
	for _, dir := range dirs {
		for _, kind := range []string{"games", "mods", "maps", "packages"} {
			entries, err := os.ReadDir(filepath.Join(dir, kind))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				name := strings.ToLower(e.Name())
				if !slices.Contains(archiveKinds, filepath.Ext(name)) {
					if e.IsDir() { // folders of archives
						all = append(all, archive{path: filepath.Join(dir, kind, e.Name())})
					}
					continue
				}
				a := archive{path: filepath.Join(dir, kind, e.Name())}
				for _, info := range []string{"modinfo.lua", "mapinfo.lua"} {
					if text := a.file(info); text != nil {
						if name := versioned(string(text)); name != "" {
							a.names = []string{name, e.Name(), strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))}
						}
					}
				}
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// maxInfo bounds a file of an archive that is read, in bytes.
const maxInfo = 1 << 20

// file returns a file at the top of an archive, whatever the case of its name; nil if there is none or this kind of
// archive is not read.
func (a *archive) file(name string) []byte {
	read := func(r io.ReadCloser, err error) []byte {
		if err != nil {
			return nil
		}
		defer r.Close()
		b, err := io.ReadAll(io.LimitReader(r, maxInfo+1))
		if err != nil || len(b) > maxInfo {
			return nil
		}
		return b
	}
	switch strings.ToLower(filepath.Ext(a.path)) {
	case ".sdd":
		entries, err := os.ReadDir(a.path)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			if strings.EqualFold(e.Name(), name) && e.Type().IsRegular() {
				f, err := os.Open(filepath.Join(a.path, e.Name()))
				return read(f, err)
			}
		}
	case ".sdz":
		z, err := zip.OpenReader(a.path)
		if err != nil {
			return nil
		}
		defer z.Close()
		for _, f := range z.File {
			if strings.EqualFold(f.Name, name) {
				r, err := f.Open()
				return read(r, err)
			}
		}
	}
	return nil
}

// luaTexts finds the comments and the texts of a Lua file, each text with the name of its field.
var luaTexts = lazyregexp.New(`--\[\[(?s:.*?)\]\]|--[^\n]*|(?:\b(\w+)\s*=\s*)?(?:"([^"\n]*)"|'([^'\n]*)'|\[\[([^\]\n]*)\]\])`)

// versioned returns the name of an archive in start scripts, from its modinfo.lua or mapinfo.lua: with the version,
// unless the name has it already. It is empty if only Lua could evaluate the file.
func versioned(info string) string {
	var name, version string
	for _, m := range luaTexts.FindAllStringSubmatch(info, -1) {
		switch text := m[2] + m[3] + m[4]; m[1] {
		case "name":
			name = cmp.Or(name, text)
		case "version":
			version = cmp.Or(version, text)
		}
	}
	if name != "" && version != "" && !strings.Contains(name, version) {
		name += " " + version
	}
	return name
}

// may reports whether an archive may be there: one has the name, or one cannot be read here, so that only the engine
// can decide.
func (all archives) may(name string) bool {
	return slices.ContainsFunc(all, func(a archive) bool {
		return len(a.names) == 0 || slices.ContainsFunc(a.names, func(have string) bool { return strings.EqualFold(have, name) })
	})
}

// file returns a file at the top of the archive with a name.
func (all archives) file(name, file string) []byte {
	for _, a := range all {
		if slices.ContainsFunc(a.names, func(have string) bool { return strings.EqualFold(have, name) }) {
			return a.file(file)
		}
	}
	return nil
}

// isState reports whether a file is a dump of the state.
func isState(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return Format().Sniff(head[:n])
}
