package zeroad

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
)

// testFailed begins the line in which the engine reports that its two simulations differ, before it writes both.
const testFailed = "Writing serializationtest-data to "

// collect leaves the computed hashes as a commands.txt, the wanted dumps, and the files that a failed test of saving
// and loading has written.
func (r *run) collect(ended *confine.Ended) error {
	if err := engine.Ended(ended); err != nil {
		return err
	}
	said, err := r.printed()
	if err != nil {
		return err
	}
	switch {
	case said.failure != "" && !said.test:
		return &engine.Failure{Why: fmt.Sprintf("the engine failed in turn %d", said.turn), Said: said.failure}
	case said.missing != "":
		return &engine.Failure{Why: "the engine did not load a mod: " + prose.Name(said.missing)}
	case !said.whole && !said.test:
		return &engine.Failure{Why: fmt.Sprintf("it ended after turn %d, before the recording does", said.turn), Said: engine.LastLine(ended.Tail)}
	}
	if err := r.writeLog(said); err != nil {
		return err
	}
	r.sweep()
	for _, dir := range r.written(dumpsName) {
		if err := r.move(dir, dumpsName, ""); err != nil {
			return err
		}
	}
	if !said.test {
		return nil
	}
	tests := r.written(testName)
	if len(tests) == 0 {
		return &engine.Failure{Why: "it wrote nothing of the test that failed", Said: said.failure}
	}
	return r.move(tests[0], testName, turnHead(said.turn)) // later states also differ
}

// turnHead is the beginning of a dump that contains the turn after which it was made.
func turnHead(turn uint64) string { return fmt.Sprintf("oos turn: %d\nsim turn: %[1]d\n", turn+1) }

// move moves the files of a folder to one of the evidence; dumps of a test get the turn, which the engine
// does not write there, as the first line.
func (r *run) move(dir, name, head string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	to := filepath.Join(r.dirs.Out, name)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		from, to := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		if head == "" || !strings.HasPrefix(e.Name(), "debug.after.") {
			if err := os.Rename(from, to); err != nil {
				return err
			}
			continue
		}
		if err := prepend(head, from, to); err != nil {
			return err
		}
	}
	return nil
}

func prepend(head, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return engine.WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(strings.NewReader(head), f))
		return err
	})
}

// printed is what the engine printed.
type printed struct {
	hashes  []computed
	turn    uint64 // the last one that it played
	whole   bool   // it reached the recording's end
	test    bool   // its two simulations differ
	failure string // the engine's line about something that failed in it
	missing string // a mod that it did not load
}

// computed is one hash that the engine computed.
type computed struct {
	turn            uint64
	quick           bool
	recorded, value []byte
}

// maxLine is the longest line that counts, in bytes.
const maxLine = 4096

func (r *run) printed() (*printed, error) {
	f, err := os.Open(r.dirs.Log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &printed{}
	begun := false
	var enabled []byte // the list of mods that the engine warns of
	listing := false
	in := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long && err != io.EOF {
			return nil, err
		}
		ended := err == io.EOF
		line = bytes.TrimRight(line, "\r\n")
		switch turn, ok := ParseTurn(line); {
		case long:
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			ended = err == io.EOF
		case ok:
			p.turn, begun, listing = turn, true, false
		case bytes.HasPrefix(line, []byte("# Final state: ")):
			p.whole = true
		case bytes.HasPrefix(line, []byte(testFailed)):
			p.test = true
		case p.failure == "" && failed(string(line)):
			p.failure = string(line)
		case !begun && bytes.Equal(line, []byte("These mods are enabled:")):
			listing, enabled = true, append(enabled, '\n')
		case listing:
			enabled = append(append(enabled, line...), '\n')
		case begun:
			if h, ok := ParseHash(line); ok {
				value, err := hex.DecodeString(string(h.Computed))
				recorded, err2 := hex.DecodeString(string(h.Recorded))
				if err := errors.Join(err, err2); err != nil {
					return nil, &engine.Failure{Why: fmt.Sprintf("its hash of turn %d is not hex digits", p.turn), Said: string(line)}
				}
				p.hashes = append(p.hashes, computed{turn: p.turn, quick: h.Quick, recorded: recorded, value: value})
			}
		}
		if ended {
			break
		}
	}
	if enabled != nil {
		for _, m := range r.start.Mods {
			if !bytes.Contains(enabled, []byte("\n"+m.name+" (")) {
				p.missing = m.name
			}
		}
	}
	return p, nil
}

// answered is the recording that the engine got, with the hashes that it computed.
type answered struct {
	*asked
	said   *printed
	hashes []orderlog.Observed
}

// Next returns the next turn for which the engine printed all hashes.
func (s *answered) Next() (orderlog.Record, error) {
	rec, err := s.asked.Next()
	if err != nil || rec.Kind != orderlog.TickRecord {
		return rec, err
	}
	tick := *rec.Tick
	s.hashes = s.hashes[:0]
	for _, o := range tick.Hashes {
		if len(s.said.hashes) == 0 {
			if s.said.whole {
				return orderlog.Record{}, &engine.Failure{Why: fmt.Sprintf("it did not print the hash of turn %d", tick.Number)}
			}
			return orderlog.Record{}, io.EOF
		}
		h := s.said.hashes[0]
		s.said.hashes = s.said.hashes[1:]
		if h.turn != tick.Number || h.quick != (o.Coverage == QuickHash) || !bytes.Equal(h.recorded, o.Bytes) {
			return orderlog.Record{}, &engine.Failure{Why: fmt.Sprintf("it printed a hash of turn %d where one of turn %d was expected", h.turn, tick.Number)}
		}
		o.Bytes = h.value
		s.hashes = append(s.hashes, o)
	}
	tick.Hashes = s.hashes
	rec.Tick = &tick
	return rec, nil
}

// writeLog leaves the recording with the hashes that were computed in place of those that were recorded.
func (r *run) writeLog(said *printed) error {
	src, from, err := r.read(filepath.Join(r.dirs.Work, logName))
	if err != nil {
		return err
	}
	defer from.Close()
	return engine.WriteFile(filepath.Join(r.dirs.Out, logName), func(w io.Writer) error {
		return Write(w, &answered{asked: src, said: said})
	})
}
