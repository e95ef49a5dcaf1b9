package zeroad

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/prose"
)

// maxModJSON is how long a mod.json may be, in bytes.
const maxModJSON = 1 << 20

// installed are the folders in which a program finds mods. A mod that both have is taken from the game's own.
type installed struct {
	data string // the game's own, empty if it is not known
	user string // its user's, empty if there is none
}

// installedBy returns the folders of a program: those that its options name, else the usual ones.
func installedBy(p *engine.Program) (*installed, error) {
	in := &installed{}
	for _, o := range []struct {
		name   string
		folder *string
		usual  []string
	}{
		{optData, &in.data, usualData(p.Path)},
		{optMods, &in.user, usualMods()},
	} {
		if given, ok := p.Options[o.name]; ok {
			abs, err := filepath.Abs(given)
			if err != nil {
				return nil, err
			}
			if !isFolder(abs) {
				return nil, fmt.Errorf("%s=%s: not a folder", o.name, prose.Path(given))
			}
			*o.folder = abs
			continue
		}
		if i := slices.IndexFunc(o.usual, isFolder); i >= 0 {
			*o.folder = o.usual[i]
		}
	}
	if in.data == "" {
		return nil, fmt.Errorf("the game's own mods are not found; %s=FOLDER after its name shows where they are", optData)
	}
	return in, nil
}

// usualData are where the game's own mods are: next to a program that was built in its sources, and where systems
// install them.
func usualData(program string) []string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	dir := filepath.Dir(program)
	return []string{
		filepath.Join(dir, "..", "data", "mods"),
		filepath.Join(dir, "..", "share", "0ad", "data", "mods"),
		filepath.Join(dir, "..", "share", "games", "0ad", "mods"),
		"/usr/share/games/0ad/mods", "/usr/share/0ad/data/mods", "/usr/share/0ad/mods",
	}
}

// usualMods are where the mods are that a user has installed.
func usualMods() []string {
	var dirs []string
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		dirs = append(dirs, filepath.Join(data, "0ad", "mods"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local", "share", "0ad", "mods"))
	}
	return dirs
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// folder returns the folder of a mod, empty if it is not installed; users reports whether the user has installed it.
func (in *installed) folder(name string) (path string, users bool) {
	if path = filepath.Join(in.data, name); isFolder(path) {
		return path, false
	}
	if path = filepath.Join(in.user, name); in.user != "" && isFolder(path) {
		return path, true
	}
	return "", false
}

// has returns why a game cannot be played: mods or its map are not there.
func (in *installed) has(s *start) error {
	var missing []string
	found := false
	for _, m := range s.Mods {
		dir, _ := in.folder(m.name)
		if dir == "" {
			missing = append(missing, strings.TrimSpace(prose.Name(m.name)+" "+prose.Name(m.version)))
			continue
		}
		there, err := hasMap(dir, s.Map)
		if err != nil {
			return fmt.Errorf("mod %s: %w", prose.Name(m.name), err)
		}
		found = found || there
	}
	if len(missing) > 0 {
		where := prose.Path(in.data)
		if in.user != "" {
			where += " and " + prose.Path(in.user)
		}
		return fmt.Errorf("it was played with mods that are not in %s: %s; %s=FOLDER after the game's name shows where they are", where, prose.Few(missing, 5), optMods)
	}
	if !found {
		return fmt.Errorf("its map %s is in none of its mods", prose.Path(s.Map))
	}
	return nil
}

// sameVersions returns why the mods that are installed are not those that the game was played with.
func (in *installed) sameVersions(s *start) error {
	for _, m := range s.Mods {
		dir, _ := in.folder(m.name)
		have, err := modVersion(dir)
		if err != nil {
			return fmt.Errorf("mod %s: %w", prose.Name(m.name), err)
		}
		if m.version != "" && have != m.version {
			return fmt.Errorf("it was played with %s %s, and %s is installed", prose.Name(m.name), prose.Name(m.version), prose.Name(have))
		}
	}
	return nil
}

// modVersion returns the version of a mod, by its mod.json.
func modVersion(dir string) (version string, err error) {
	text, err := fs.ReadFile(os.DirFS(dir), "mod.json")
	if errors.Is(err, fs.ErrNotExist) {
		err = eachArchive(dir, func(z *zip.Reader) (bool, error) {
			var found error
			text, found = readZipped(z, "mod.json")
			if errors.Is(found, fs.ErrNotExist) {
				return false, nil
			}
			return true, found
		})
	}
	if err != nil {
		return "", err
	}
	var about struct{ Version string }
	if err := json.Unmarshal(text, &about); err != nil {
		return "", fmt.Errorf("mod.json: %w", err)
	}
	return about.Version, nil
}

func readZipped(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxModJSON))
}

// hasMap reports whether a mod has a map: what describes it, or the script that makes it.
func hasMap(dir, name string) (bool, error) {
	var files []string
	for _, ext := range []string{".xml", ".json", ".js", ".pmp"} {
		files = append(files, name+ext)
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)+ext)); err == nil && info.Mode().IsRegular() {
			return true, nil
		}
	}
	found := false
	err := eachArchive(dir, func(z *zip.Reader) (bool, error) {
		found = slices.ContainsFunc(z.File, func(f *zip.File) bool { return slices.Contains(files, f.Name) })
		return found, nil
	})
	return found, err
}

// eachArchive calls do with the archives of a mod until it returns true.
func eachArchive(dir string, do func(*zip.Reader) (bool, error)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".zip" && ext != ".pyromod" {
			continue
		}
		z, err := zip.OpenReader(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", prose.Name(e.Name()), err)
		}
		done, err := do(&z.Reader)
		z.Close()
		if done || err != nil {
			return err
		}
	}
	return nil
}
