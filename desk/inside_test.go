package desk

import (
	"context"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Pack is for tests that write rows themselves.
var Pack = pack

// ManyRows is from how many rows on lists are asked for otherwise.
var ManyRows = &manyRows

// ExamineRows is what Examine finds in the rows of a store.
func (s *Store) ExamineRows(ctx context.Context) ([]Fault, error) {
	x := &examining{Store: s, o: Examination{Most: 10}, done: &Examined{}, listed: map[FaultKind]int{}}
	for _, step := range []func(context.Context) error{x.database, x.documents} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return x.done.Faults, nil
}

var declared = lazyregexp.New(`(?m)^\t(\w+) .*REFERENCES (\w+) \(id\)`)

// TestReferences: an examination follows each reference that the schema declares.
func TestReferences(t *testing.T) {
	list, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range list {
		text := withoutComments(m.text)
		tables := createTable.FindAllStringSubmatchIndex(text, -1)
		for i, at := range tables {
			end := len(text)
			if i+1 < len(tables) {
				end = tables[i+1][0]
			}
			for _, r := range declared.FindAllStringSubmatch(text[at[0]:end], -1) {
				found++
				if want := (reference{text[at[2]:at[3]], r[1], r[2], false}); !slices.Contains(references, want) {
					t.Errorf("%+v is not followed", want)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d references found", found)
	}
}
