package ggpo

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
)

const traceFolder = "../../testdata/ggpo"

func TestClaims(t *testing.T) {
	for name, want := range map[string]string{
		"a/state-0013-original.log":  "",
		"a/state-0013-replay.log":    "state-0013-replay.log is there: the checksum of frame 13 was another one when it was played again",
		"a/state-0013-replay.log.gz": "state-0013-replay.log is there: the checksum of frame 13 was another one when it was played again",
		"a/other.log":                "",
	} {
		log, err := claims(strings.NewReader("GameState object.\n"), name)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range log.Claims {
			got += c.Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestCheck: equal texts are lacking, those that differ are not.
func TestCheck(t *testing.T) {
	for name, lacking := range map[string]bool{
		"hidden/synclogs/state-0021-replay.log":      true,
		"hidden/synclogs/state-0021-original.log":    false,
		"vectorwar/synclogs/state-0013-replay.log":   false,
		"vectorwar/synclogs/log-0012-replay.log":     false,
		"vectorwar/synclogs/state-0099-original.log": false,
	} {
		note, err := check(files.Disk, filepath.Join(traceFolder, filepath.FromSlash(name)))
		if note != "" || errors.Is(err, frame.ErrLacking) != lacking || err != nil && !lacking {
			t.Errorf("%s: %q, %v", name, note, err)
		}
	}
	if _, err := check(files.Disk, filepath.Join(traceFolder, "vectorwar", "synclogs", "state-0099-replay.log")); err != nil {
		t.Errorf("without the original: %v", err) // nothing is said of it
	}
}
