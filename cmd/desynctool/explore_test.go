package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/explore"
)

// TestExploreCommands runs every command that a tree names, as a shell splits it: none is a
// wrong use.
func TestExploreCommands(t *testing.T) {
	ran := map[string]bool{}
	for _, folder := range []string{"openttd/rng_poke", "spring/recoil", "0ad/mp_late_damage", "ggpo/vectorwar"} {
		path := filepath.Join("..", "..", "testdata", filepath.FromSlash(folder))
		var out, errs bytes.Buffer
		if status := run([]string{"triage", path, "--format", "json"}, nil, &out, &errs); status == 2 {
			t.Fatalf("%s: %s", folder, &errs)
		}
		r := new(document.Report)
		if err := json.Unmarshal(out.Bytes(), r); err != nil {
			t.Fatal(err)
		}
		var walk func(n *explore.Node)
		walk = func(n *explore.Node) {
			if !ran[n.Command] {
				ran[n.Command] = true
				tryCommand(t, n.Command)
			}
			for _, c := range n.Children {
				walk(c)
			}
		}
		walk(explore.Build([]*document.Report{r}, explore.Given{Paths: []string{path}}))
	}
	for _, name := range []string{"triage", "doctor", "bisect", "orders", "tracediff", "diff", "walk"} {
		found := false
		for command := range ran {
			found = found || strings.HasPrefix(command, "desynctool "+name+" ")
		}
		if !found {
			t.Errorf("no tree names %s", name)
		}
	}
}

func tryCommand(t *testing.T, command string) {
	words, err := shell.Fields(command, nil)
	if err != nil || len(words) < 2 || words[0] != "desynctool" {
		t.Errorf("%q: %v", command, err)
		return
	}
	var errs bytes.Buffer
	if status := run(words[1:], nil, new(bytes.Buffer), &errs); status == 2 {
		t.Errorf("%s: %s", command, &errs)
	}
}
