package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// Schema is the schema name in documents with results.
const Schema = "desynctool.golden/1"

// Limits of a file with results.
const (
	maxResults = 64 << 20 // bytes
	maxRuns    = 1 << 12
)

// ParseResults reads the runs in a document that a check wrote. Unknown keys are skipped.
func ParseResults(b []byte) ([]Run, error) {
	if len(b) > maxResults {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(b), maxResults)
	}
	var doc struct {
		Schema string   `json:"schema"`
		Runs   readRuns `json:"runs"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("not results of golden check: %w", err)
	}
	if doc.Schema != Schema {
		return nil, errNoResults{doc.Schema}
	}
	if len(bytes.TrimSpace(b[d.InputOffset():])) > 0 {
		return nil, fmt.Errorf("offset %d: expected the end of the document", d.InputOffset())
	}
	if len(doc.Runs) == 0 {
		return nil, errors.New("no runs in it")
	}
	return doc.Runs, nil
}

// readRuns and readOutcomes are lists that are checked while they are read, so the memory that they take is in
// proportion to their valid part.
type (
	readRuns     []Run
	readOutcomes []Outcome
)

// UnmarshalJSON reads runs one by one.
func (l *readRuns) UnmarshalJSON(b []byte) error {
	return readList(b, func(d *json.Decoder) error {
		var r struct {
			Platform string `json:"platform"`
			Build
			Interrupted bool         `json:"interrupted"`
			Replays     readOutcomes `json:"replays"`
		}
		err := d.Decode(&r)
		switch {
		case err == nil && r.Platform == "":
			err = errors.New("no platform")
		case err == nil && len(*l) == maxRuns:
			err = fmt.Errorf("expected at most %d", maxRuns)
		case err == nil && len(r.Facts) > maxFacts:
			err = fmt.Errorf("%d facts, expected at most %d", len(r.Facts), maxFacts)
		}
		if err != nil {
			return fmt.Errorf("run %d: %w", len(*l)+1, err)
		}
		*l = append(*l, Run{Platform: r.Platform, Build: r.Build, Interrupted: r.Interrupted, Replays: r.Replays})
		return nil
	})
}

// UnmarshalJSON reads outcomes one by one; their names ascend.
func (l *readOutcomes) UnmarshalJSON(b []byte) error {
	return readList(b, func(d *json.Decoder) error {
		var o Outcome
		if err := d.Decode(&o); err != nil {
			return err
		}
		if n := len(*l); n > 0 && (*l)[n-1].Replay >= o.Replay {
			return fmt.Errorf("replay %q: expected names in ascending order", o.Replay)
		}
		*l = append(*l, o)
		return o.check()
	})
}

// readList calls read for each element of a list.
func readList(b []byte, read func(d *json.Decoder) error) error {
	if string(b) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return errors.Join(errors.New("expected a list"), err)
	}
	for d.More() {
		if err := read(d); err != nil {
			return err
		}
	}
	return nil
}

// errNoResults is the error of another document.
type errNoResults struct{ schema string }

func (e errNoResults) Error() string {
	return fmt.Sprintf("schema is %q, expected %q", e.schema, Schema)
}

// check reports what in an outcome that was read cannot be.
func (o *Outcome) check() error {
	switch {
	case o.Result != Same && o.Result != Diverged && o.Result != NotPlayed && o.Result != Unusable:
		return fmt.Errorf("replay %q: result %q is not known", o.Replay, o.Result)
	case o.Again != "" && o.Again != AgainSame && o.Again != AgainOther:
		return fmt.Errorf("replay %q: again %q is not known", o.Replay, o.Again)
	case (o.Result == Diverged) != (o.First != nil):
		return fmt.Errorf("replay %q: what diverged has a first difference, and nothing else has", o.Replay)
	case o.Golden == nil && (o.Result == Same || o.Result == Diverged):
		return fmt.Errorf("replay %q: no digest of the golden trace", o.Replay)
	}
	return nil
}

// ResultsName is the name of the file with the results of a run: "linux-amd64.json", with the build, if it is known,
// before the extension.
func ResultsName(r *Run) string {
	name := NameOf(strings.ReplaceAll(r.Platform, "/", "-"))
	if r.Build.Build != "" {
		name = NameOf(name + "-" + r.Build.Build)
	}
	return name + ".json"
}

// ReadResults reads the runs in files, and in the files *.json in folders and below them. Unread lists the files that
// could not be used. A path that does not exist is an error, and so is a path without any results.
func ReadResults(paths []string) (runs []Run, unread []string, err error) {
	for _, path := range paths {
		found := 0
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() || file != path && filepath.Ext(file) != ".json" {
				return nil
			}
			list, err := readResults(file)
			if other := (errNoResults{}); errors.As(err, &other) && file != path {
				return nil // another document among them
			}
			found++
			if err != nil {
				unread = append(unread, fmt.Sprintf("%s: %v", prose.Path(filepath.ToSlash(file)), err))
			}
			runs = append(runs, list...)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if found == 0 {
			return nil, nil, fmt.Errorf("%s: no results in it; golden check --write-results writes such files", path)
		}
	}
	return runs, unread, nil
}

func readResults(file string) ([]Run, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxResults+1))
	if err != nil {
		return nil, err
	}
	return ParseResults(b)
}
