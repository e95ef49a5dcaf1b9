package snapshot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
)

// TestHeldLike: a state that looks at another one for digests has those that it has by itself.
func TestHeldLike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genWorld(t)
		b := altered(t, a)
		if rapid.Bool().Draw(t, "another") {
			b = genWorld(t)
		}
		alone, beside := hold(t, b).(*held), hold(t, b).(*held)
		beside.like = hold(t, a).(*held)
		if alone.Info().Root != oracleRoot(b) {
			t.Fatal("another root than by the specification")
		}
		if !reflect.DeepEqual(alone.Info(), beside.Info()) || !reflect.DeepEqual(alone.indexes, beside.indexes) || !reflect.DeepEqual(alone.starts, beside.starts) {
			t.Fatal("other digests beside another state than alone")
		}
		if beside.like != nil {
			t.Error("the other state stays in memory")
		}
	})
}

// altered returns a copy of w in which a column is missing, has another name or another value.
func altered(t *rapid.T, w *World) *World {
	out := &World{Head: w.Head, Tables: slices.Clone(w.Tables)}
	for i := range out.Tables {
		table := &out.Tables[i]
		table.Columns = slices.Clone(table.Columns)
		if len(table.Columns) == 0 {
			continue
		}
		k := rapid.IntRange(0, len(table.Columns)-1).Draw(t, "column")
		c := &table.Columns[k]
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			table.Columns = slices.Delete(table.Columns, k, k+1)
		case 1:
			last := table.Columns[len(table.Columns)-1]
			c = &table.Columns[len(table.Columns)-1]
			c.Component, c.Field = last.Component, last.Field+"z"
		case 2:
			if row := c.Rows() - 1; row >= 0 && c.Has(row) && c.Type != Bool && c.Type.Width() > 0 {
				c.Data = slices.Clone(c.Data)
				c.Data[len(c.Data)-1] ^= 1
			}
		}
	}
	return out
}

// TestOpenLike: a copy of a state in memory is not read, and belongs to its own peer; a state that differs is read.
func TestOpenLike(t *testing.T) {
	reads := 0
	format := Format{
		Name: "whole",
		ParseName: func(base string) (FileName, bool) {
			name := FileName{}
			_, err := fmt.Sscanf(base, "%d-%s", &name.Point.Tick, &name.Peer)
			return name, err == nil
		},
		Open: func(r io.ReaderAt, size int64, name string) (State, error) {
			reads++
			w := smallWorld()
			w.Point = Point{Tick: 7}
			return Hold(w)
		},
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"7-a": "same", "7-b": "same", "7-c": "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, _, err := ReadDir(files.Disk, dir, []Format{format})
	if err != nil || len(set.Entries) != 3 {
		t.Fatal(err, set)
	}
	for i, want := range []int{1, 1, 2} {
		e := set.Entries[i]
		e.Seed = smallWorld().Seed
		s, err := e.OpenLike(set.Entries[0])
		if err != nil {
			t.Fatal(err)
		}
		if reads != want {
			t.Errorf("%s: %d were read, expected %d", e.Base, reads, want)
		}
		if info := s.Info(); info.Root != oracleRoot(smallWorld()) || i == 1 && info.Peer != "b" {
			t.Errorf("%s: %v, of %q", e.Base, info.Root, info.Peer)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
