package pseudonyms_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/desk/pseudonyms"
)

// A copy that is stopped, or cannot be written, is reported.
func TestCopyStops(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "gamelogs", "spring")
	ctx, cancel := context.WithCancelCause(context.Background())
	over := errors.New("the worker is to stop")
	cancel(over)
	if _, err := pseudonyms.NewScrubber(key(t)).Copy(ctx, path, new(bytes.Buffer)); !errors.Is(err, over) {
		t.Errorf("%v, expected %v", err, over)
	}
	if _, err := pseudonyms.NewScrubber(key(t)).Copy(context.Background(), path, full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, expected %v", err, io.ErrShortWrite)
	}
	if _, err := pseudonyms.NewScrubber(key(t)).Copy(context.Background(), filepath.Join(path, "nothing"), new(bytes.Buffer)); err == nil {
		t.Error("what is not there was copied")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
