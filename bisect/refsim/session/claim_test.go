package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/file/files"
)

// An unfinished session is taken over, unless a process still writes it or something else is there.
func TestClaim(t *testing.T) {
	record := func(dir string, reports func(*Recording) error) error {
		_, err := RecordTo(dir, Options{Config: refsim.Config{Seed: 1, Entities: 100}, Ticks: 5, Reports: reports}, TraceNone)
		return err
	}
	dir := t.TempDir()
	leave := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	leave("client/order-log.bin", "evidence")
	if err := record(dir, nil); err == nil {
		t.Fatal("a folder that holds evidence was taken")
	}
	leave(StateName, stateText)
	leave("notes.txt", "mine")
	if err := record(dir, nil); err == nil {
		t.Fatal("a folder that holds notes was taken")
	}
	if err := os.Remove(filepath.Join(dir, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	leave("client3/order-log.bin", "half")
	err := record(dir, func(*Recording) error {
		if _, err := os.Stat(filepath.Join(dir, TruthName)); err == nil {
			t.Error("it counts as finished before it is")
		}
		if err := record(dir, nil); !errors.Is(err, files.ErrInUse) {
			t.Errorf("%v, but it is being written", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 3 {
		t.Errorf("%v, %v: expected the two peers and truth.json", list, err)
	}
	broken := errors.New("broken")
	fresh := filepath.Join(dir, "fresh")
	if err := record(fresh, func(*Recording) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: an error leaves something", err)
	}
}
