package widelands

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
)

// savedGame is the suffix that follows the name of a replay in the name of the saved game that it begins with.
const savedGame = ".wgf"

// startOf returns the saved game that a replay begins with.
func startOf(rec *engine.Recording) (string, error) {
	name, file := beside(rec, savedGame)
	if file == "" {
		return "", &engine.Refusal{Why: fmt.Sprintf("%s is not there, the saved game that the replay begins with", name)}
	}
	return file, nil
}

// beside returns the name of a file that a peer leaves next to a replay, the replay's name with a suffix, and the copy
// of it, empty if it does not exist.
func beside(rec *engine.Recording, suffix string) (name, file string) {
	name = filepath.Base(rec.File) + suffix
	for _, file := range rec.Beside {
		if filepath.Base(file) == name {
			return name, file
		}
	}
	return name, ""
}

// saved is what a saved game contains about itself.
type saved struct {
	version string   // of the game, "1.1"
	addons  []string // without their versions
}

// preloadLen is how much is read, at most, of a saved game's facts about itself.
const preloadLen = 64 << 10

// readSaved reads a saved game's facts about itself. Errors have the name for the file.
func readSaved(file, name string) (*saved, error) {
	refuse := func(format string, args ...any) (*saved, error) {
		return nil, &engine.Refusal{Path: name, Why: fmt.Sprintf(format, args...)}
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		return refuse("it is not read as a saved game: %v", err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		if strings.TrimPrefix(f.Name, "/") != "preload" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return refuse("its preload is not read: %v", err)
		}
		defer r.Close()
		s := new(saved)
		lines := bufio.NewScanner(io.LimitReader(r, preloadLen))
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), "=")
			value = strings.Trim(value, `"`)
			switch key {
			case "widelands_version":
				s.version = value
			case "addons":
				for _, addon := range strings.Split(value, ",") {
					if addon, _, _ = strings.Cut(addon, ":"); addon != "" {
						s.addons = append(s.addons, addon)
					}
				}
			}
		}
		if err := lines.Err(); err != nil {
			return refuse("its preload is not read: %v", err)
		}
		if s.version == "" {
			return refuse("its preload does not name the version that wrote it")
		}
		return s, nil
	}
	return refuse("it has no preload, so that the version which wrote it is not known")
}
