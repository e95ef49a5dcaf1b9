package godot_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

const traceTank = "../../testdata/godot-rollback/tank/20240115-180402-peer-%d.log"

func path(peer int) string { return filepath.FromSlash(fmt.Sprintf(traceTank, peer)) }

// TestCompare: the hashes part in the tick that was made to differ.
func TestTraceCompare(t *testing.T) {
	f := godot.TraceFormat()
	var list []*tracediff.Trace
	for _, peer := range []int{1, 2} {
		found, err := tracediff.OpenForeign(files.Disk, path(peer), &f, tracediff.ReadOptions{})
		if err != nil || len(found) != 1 || found[0].Name != fmt.Sprintf("peer %d", peer) {
			t.Fatalf("%v, %v", found, err)
		}
		x, err := found[0].Extent()
		if want := (tracediff.Extent{First: 1, Last: 12, Any: true, Whole: true}); err != nil || x != want {
			t.Errorf("peer %d: %+v, %v", peer, x, err)
		}
		list = append(list, found...)
	}
	r, err := tracediff.Compare(list, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.First == nil || r.First.Tick.Number != 8 {
		t.Errorf("first difference %+v, want one in tick 8", r.First)
	}
}

func TestClaims(t *testing.T) {
	log, err := tracediff.ReadClaims(files.Disk, path(2), &[]tracediff.Format{godot.TraceFormat()}[0], tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Claims) != 1 || log.Claims[0].Text != "Fatal state mismatch" || !log.Claims[0].HasTick || log.Claims[0].Tick != 12 || log.Peer != "peer 2" {
		t.Errorf("%+v", log)
	}
	other := logContent(3, logHeader(1, dict{}), logFrame(4, "fatal_error_message", "Unable to hash state"), dict{"log_type", 9})
	log, err = godot.TraceFormat().Claims(bytes.NewReader(other), "x")
	if err != nil || len(log.Claims) != 0 || !strings.Contains(log.Trouble, "log_type") {
		t.Errorf("%+v, %v", log, err)
	}
}

// TestNoHash: a state that a game changed so that it has no hash has a count of its nodes.
func TestNoHash(t *testing.T) {
	content := logContent(4, logHeader(1, dict{}), dict{"log_type", 2, "tick", 5, "state", dict{"/a", 1, "/b", 2}})
	s, err := godot.TraceFormat().Read(bytes.NewReader(content), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := s.Next()
	if err != nil || rec.Checkpoint.Tick != 5 || !rec.Checkpoint.HasCount || rec.Checkpoint.Count != 2 {
		t.Errorf("%+v, %v", rec, err)
	}
	if _, err := s.Next(); err != io.EOF {
		t.Error(err)
	}
}

func FuzzTraceRead(f *testing.F) {
	for _, peer := range []int{1, 2} {
		b, err := os.ReadFile(path(peer))
		if err != nil {
			f.Fatal(err)
		}
		content, _, err := compression.Unpack(bytes.NewReader(b), 0)
		if err != nil {
			f.Fatal(err)
		}
		if b, err = io.ReadAll(content); err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		log, err := godot.TraceFormat().Claims(bytes.NewReader(content), "x")
		s, err2 := godot.TraceFormat().Read(bytes.NewReader(content), "x", 0)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v, %v of claims %+v", err2, err, log)
		}
		for err2 == nil {
			_, err2 = s.Next()
		}
	})
}
