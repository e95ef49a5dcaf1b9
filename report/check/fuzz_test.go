package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/signatures"
	"github.com/desynctool/desynctool/tracediff"
)

// accepts has the reader of a format read a file to its end.
func accepts(format string, b []byte) error {
	switch format {
	case "order-log":
		r, err := orderlog.NewReader(bytes.NewReader(b), "f")
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF {
			return nil
		}
		return err
	case "snap":
		f, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), "f")
		if err != nil {
			return err
		}
		return errors.Join(snapshot.Check(f), f.Close())
	case "tick-signatures":
		r, err := signatures.NewReader(bytes.NewReader(b), "f")
		if err != nil {
			return err
		}
		chain, err := signatures.Verify(r, signatures.Options{Workers: 1})
		if err == nil && !chain.Holds() {
			err = &chain.Breaks[0]
		}
		return err
	case "trace", "text-trace":
		r, err := tracediff.NewReader(bytes.NewReader(b), "f", tracediff.ReadOptions{})
		if err != nil {
			return err
		}
		defer r.Close()
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
	r, err := peers.Read(bytes.NewReader(b), "f")
	if err == nil && len(r.Contradictions()) > 0 {
		return errors.New(r.Contradictions()[0])
	}
	return err
}

// FuzzCheck: a file that conforms is accepted by the reader of its format; a file that the reader refuses does not
// conform.
func FuzzCheck(f *testing.F) {
	for _, b := range [][]byte{goodLog(f), goodSnap(f), goodTrace(f), goodChain(f), []byte(traceText), []byte(goodReport(f))} {
		f.Add(b)
		f.Add(b[:len(b)-9])
	}
	for _, pattern := range []string{"snapshot/*.snap", "cuts/*.snap", "orderlog/*.bin"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds %s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(b) < 100<<10 {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, _, err := checkContent(bytes.NewReader(b), int64(len(b)), "f", Options{Most: 50}, nil)
		if err != nil {
			return
		}
		if len(file.Findings) > 50 || len(file.Findings) > file.Errors+file.Advices {
			t.Fatalf("%d findings of %d and %d", len(file.Findings), file.Errors, file.Advices)
		}
		if refused := accepts(file.Format, b); refused != nil && file.Errors == 0 {
			t.Errorf("it conforms as %s, and is refused: %v", file.Format, refused)
		}
	})
}

// TestAgreement changes bytes at random inside of what checksums cover, makes the checksums right
// again, and expects what FuzzCheck does.
func TestAgreement(t *testing.T) {
	snap := goodSnap(t)
	header := snapPreamble + int(binary.LittleEndian.Uint32(snap[12:]))
	entries := takeSnap(t, snap).header[10].(arr)
	worse := 0
	for seed := range effort.Of(4000, 40000) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		scar := func(b []byte) []byte {
			b = slices.Clone(b)
			for range 1 + r.IntN(2) {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
			return b
		}
		var b []byte
		switch r.IntN(5) {
		case 0, 1:
			b = goodLog(t)
			if r.IntN(2) == 0 {
				b = goodTrace(t)
			}
			f := takeFramed(t, b)
			x := &f.frames[r.IntN(len(f.frames))]
			x.value = raw(scar(encode(x.value)))
			b = f.bytes()
		case 2:
			b = withHeader(snap, scar(snap[snapPreamble:header]))
		case 3: // an index
			b = slices.Clone(snap)
			e := entries[r.IntN(len(entries))].(arr)
			from, n := e[5].(num).n, e[6].(num).n
			copy(b[from:], scar(b[from:from+n-4]))
			copy(b[from+n-4:], le32(crc(b[from:from+n-4])))
		case 4: // a cell, with all hashes right
			s := takeSnap(t, snap)
			f := s.tables[r.IntN(len(s.tables))]
			i := r.IntN(len(f.cells))
			f.cells[i] = scar(f.cells[i])
			b = s.bytes(true)
		}
		file, _, err := checkContent(bytes.NewReader(b), int64(len(b)), "f", Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if refused := accepts(file.Format, b); refused != nil {
			worse++
			if file.Errors == 0 {
				t.Errorf("seed %d: it conforms as %s, and is refused: %v", seed, file.Format, refused)
			}
		}
	}
	if worse < 100 {
		t.Errorf("only %d files were refused", worse)
	}
}
