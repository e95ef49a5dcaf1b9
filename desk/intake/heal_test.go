//go:build unix

package intake_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/intake"
)

// TestAddHeals: a bundle whose stored content is damaged or missing is whole after it comes again, in the form in which it
// was stored; a whole one is not written.
func TestAddHeals(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		x, r := open(t, where)
		dir := filepath.Join(t.TempDir(), "blobs")
		kept, err := blobs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		x.Blobs, x.Without = kept, without{r}
		contents := map[string]string{"copied.zip": "# 2 bug1 a", "as-it-is.zip": "# 2 bug2 b", "waits.zip": "# 2 bug3 c", "aside.zip": "# 2 bug4 d", "deleted.zip": "# 2 bug5 e"}
		var list []intake.Source
		for _, name := range []string{"copied.zip", "as-it-is.zip", "waits.zip", "aside.zip", "deleted.zip"} {
			list = append(list, intake.Source{Path: write(t, filepath.Join(dir, "..", name), contents[name]), Name: name})
		}
		received := func(ctx context.Context, b desk.Bundle, r desk.Receipt) (bundle *desk.Bundle, isNew bool, err error) {
			err = x.Store.Write(ctx, func(tx *desk.Tx) error {
				bundle, isNew, err = tx.Receive(ctx, b, r)
				return err
			})
			return bundle, isNew, err
		}
		add := func(list []intake.Source, queue intake.Receive) (healed int) {
			t.Helper()
			err := x.Add(ctx, list, 2, queue, func(a intake.Added) error {
				if a.Healed {
					healed++
				}
				return a.Err
			})
			if err != nil {
				t.Fatal(err)
			}
			return healed
		}
		bundle := func(name string) *desk.Bundle {
			t.Helper()
			b, err := x.Store.Bundle(ctx, hashOf(contents[name]))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		add(list[:2], nil)
		add(list[2:4], received)
		add(list[4:], nil)
		if err := x.SetAside(ctx, bundle("aside.zip").ID, "its content is damaged"); err != nil {
			t.Fatal(err)
		}
		prepared := bundle("deleted.zip")
		if err := errors.Join(x.Store.Write(ctx, func(tx *desk.Tx) error { return tx.SetKept(ctx, prepared.ID, "", 0) }), kept.Delete(ctx, prepared.Kept)); err != nil {
			t.Fatal(err)
		}
		for round, harm := range []func(path string) error{
			func(path string) error { // a byte is changed, and the length is the same
				text, err := os.ReadFile(path)
				text[len(text)/2] ^= 1
				return errors.Join(err, os.WriteFile(path, text, 0o666))
			},
			os.Remove,
			func(path string) error { return os.Truncate(path, 0) },
			nil,
		} {
			queue := received
			if round == 1 {
				queue = nil // the bundles that wait are triaged too
			}
			names := []string{"copied.zip", "as-it-is.zip", "waits.zip", "aside.zip"}
			want := map[string]string{}
			for _, name := range names {
				b := bundle(name)
				want[name] = b.Kept
				if harm == nil {
					continue
				}
				if err := harm(filepath.Join(dir, b.Kept[:2], b.Kept+".zst")); err != nil {
					t.Fatal(err)
				}
			}
			healed := add(list[:4], queue)
			// Of a wrong length, what is kept as it came is written again when it is received for the queue.
			if expected := [...]int{4, 4, 3, 0}[round]; healed != expected {
				t.Errorf("round %d: %d healed, expected %d", round, healed, expected)
			}
			for _, name := range names {
				b := bundle(name)
				if round == 1 && name[0] != 'c' && b.State == desk.Read && b.Kept != want[name] {
					want[name] = hashOf("a copy of " + name) // it was triaged now
				}
				if b.Kept != want[name] {
					t.Errorf("round %d, %s: %s is kept, expected %s", round, name, b.Kept, want[name])
				}
				content, err := kept.Open(ctx, b.Kept)
				if err != nil {
					t.Errorf("round %d, %s: %v", round, name, err)
					continue
				}
				if _, err := io.Copy(io.Discard, content); err != nil {
					t.Errorf("round %d, %s: %v", round, name, err)
				}
				content.Close()
			}
		}
		if b := bundle("aside.zip"); b.State != desk.Read {
			t.Errorf("the bundle that was set aside is %s, expected that it waited and was triaged", b.State)
		}
		if b := bundle("copied.zip"); b.Kept != hashOf("a copy of copied.zip") {
			t.Errorf("%s is kept, expected the copy without names", b.Kept)
		}
	})
}
