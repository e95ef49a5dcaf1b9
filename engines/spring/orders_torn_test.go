package spring

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

// TestCutDemoIsNoDifference: a demo that breaks off, wherever that is, has no order
// missing, altered or extra.
func TestCutDemoIsNoDifference(t *testing.T) {
	f, err := os.Open("../../testdata/spring/control/server/demo.sdfz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	open := func(b []byte) orderlog.Source {
		r, err := NewReader(bytes.NewReader(b), "demo")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	step := effort.Of(997, 97)
	for n := 2000; n < len(whole); n += step {
		c, err := orderlog.Compare([]orderlog.Named{{Name: "whole", Source: open(whole)}, {Name: "cut", Source: open(whole[:n])}}, orderlog.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Diverged() || c.DifferenceCount != 0 {
			t.Fatalf("cut at %d: %s", n, c.Line())
		}
		if n < 40000 && !errors.Is(c.Peers[1].Err, frame.ErrTorn) {
			t.Fatalf("cut at %d: %v", n, c.Peers[1].Err)
		}
	}
}
