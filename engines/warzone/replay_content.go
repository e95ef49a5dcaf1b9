package warzone

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
)

// Options that name folders.
const (
	modsOption = "mods"
	mapsOption = "maps"
)

// mods returns the hashes of the mods that a recording names.
func mods(rec *engine.Recording) []string { return strings.Fields(rec.Header.Params["mods"]) }

// contentFiles returns the .wz files in a folder that have the wanted SHA-256 hashes.
func contentFiles(dir string, hashes []string) ([]string, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	if dir == "" {
		return nil, fmt.Errorf("it was recorded with mods of these SHA-256 hashes; %s=DIR names the folder of their files: %.200s", modsOption, strings.Join(hashes, " "))
	}
	list, err := wzFiles(dir)
	if err != nil {
		return nil, err
	}
	have := map[string]string{}
	for _, file := range list {
		sum, err := hashOf(file)
		if err != nil {
			return nil, err
		}
		have[sum] = file
	}
	var found []string
	for _, h := range hashes {
		file, ok := have[strings.ToLower(h)]
		if !ok {
			return nil, fmt.Errorf("no .wz file in %s has the SHA-256 hash %.64q, which the recording names", dir, h)
		}
		found = append(found, file)
	}
	return found, nil
}

// mapFiles returns the .wz files of the folder with maps.
func mapFiles(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	return wzFiles(dir)
}

func wzFiles(dir string) ([]string, error) {
	list, err := filepath.Glob(filepath.Join(engine.GlobOf(dir), "*.wz"))
	if err == nil && len(list) == 0 {
		if _, err = os.Stat(dir); err == nil {
			err = fmt.Errorf("no .wz file in %s", dir)
		}
	}
	slices.Sort(list)
	return list, err
}

func hashOf(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// place copies mods and maps to where the game looks for them.
func (s *play) place() error {
	for folder, list := range map[string][]string{filepath.Join("mods", "downloads"): s.mods, "maps": s.maps} {
		if len(list) == 0 {
			continue
		}
		dir := filepath.Join(s.config, folder)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		for _, file := range list {
			if err := engine.CopyFile(filepath.Join(dir, filepath.Base(file)), file); err != nil {
				return err
			}
		}
	}
	return nil
}
