//go:build unix

package confine

import (
	"cmp"
	"os"
	"path/filepath"
)

// usualPath is used if PATH is not set. Debian has separate folders for games.
const usualPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"

func minimal(home string) []string {
	path := cmp.Or(os.Getenv("PATH"), usualPath)
	return []string{
		"PATH=" + path, "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC",
		"SDL_AUDIODRIVER=dummy", "ALSOFT_DRIVERS=null", // no sound
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
	}
}
