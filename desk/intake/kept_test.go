//go:build unix

package intake_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/report/document"
)

// without is a reader that copies bundles without names, unless they contain that it cannot, and fails where they
// contain that.
type without struct{ *toy }

var errMachine = errors.New("this machine is too small")

func (r without) ReadCopy(ctx context.Context, path, name string, out io.Writer) (list []*document.Report, copied bool, left []string, err error) {
	switch {
	case strings.HasPrefix(name, "fail"):
		return nil, false, nil, errMachine
	case strings.HasPrefix(name, "as-it-is"):
		left = []string{"it is kept as it came"}
	default:
		copied = true
		if _, err := fmt.Fprintf(out, "a copy of %s", name); err != nil {
			return nil, false, nil, err
		}
	}
	list, err = r.Read(ctx, path, name)
	return list, copied, left, err
}

func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// TestAddKeeps: of a bundle either a copy without names is in the store or what came, whatever becomes of it, and nothing
// else.
func TestAddKeeps(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		x, r := open(t, where)
		x.Without, x.Wall = without{r}, 100*time.Millisecond
		dir := t.TempDir()
		contents := map[string]string{
			"copied.zip": "# 2 bug1 a", "as-it-is.zip": "# 2 bug1 b", "fail.zip": "# 2 bug1 c", "hangs.zip": "hang", "unread.zip": "#", "twice.zip": "# 2 bug1 a", "waited.zip": "# 2 bug1 w",
		}
		names := []string{"copied.zip", "as-it-is.zip", "fail.zip", "hangs.zip", "unread.zip", "twice.zip", "waited.zip"}
		var list []intake.Source
		for _, name := range names {
			list = append(list, intake.Source{Path: write(t, filepath.Join(dir, name), contents[name]), Name: name})
		}
		states := map[string]desk.State{"as-it-is.zip": desk.Read, "copied.zip": desk.Read, "fail.zip": desk.Waiting, "hangs.zip": desk.Aside, "unread.zip": desk.Read, "waited.zip": desk.Read}
		waiting, err := x.Keep(ctx, list[len(list)-1]) // as an upload does
		if err != nil {
			t.Fatal(err)
		}
		err = x.Store.Write(ctx, func(tx *desk.Tx) error {
			_, _, err := tx.Receive(ctx, waiting.Bundle, desk.Receipt{Name: "waited.zip"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := waiting.Close(); err != nil {
			t.Fatal(err)
		}
		for round := range 2 { // again, nothing changes
			err := x.Add(ctx, list, 3, nil, func(a intake.Added) error {
				name := filepath.Base(a.Path)
				if failed := errors.Is(a.Err, errMachine); failed != (name == "fail.zip") || !failed && a.Err != nil {
					t.Errorf("%s: %v", name, a.Err)
				}
				if a.Bundle == nil || a.New != (round == 0 && name != "twice.zip" && name != "waited.zip") || (a.Aside != "") != (name == "hangs.zip") {
					t.Errorf("round %d, %s: %+v", round, name, a)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{}
			for name, state := range states {
				b, err := x.Store.Bundle(ctx, hashOf(contents[name]))
				if err != nil || b.State != state {
					t.Fatalf("%s: %+v, %v, expected one that is %s", name, b, err, state)
				}
				kept := contents[name]
				if name == "copied.zip" || name == "unread.zip" || name == "waited.zip" {
					kept = "a copy of " + name
				}
				if b.Kept != hashOf(kept) {
					t.Errorf("%s: another content is kept than %q", name, kept)
				}
				want[b.Kept] = true
			}
			for blob, err := range x.Blobs.List(ctx) {
				if err != nil || !want[blob.Hash] {
					t.Errorf("round %d: blob %s is of no bundle, %v", round, blob.Hash, err)
				}
				delete(want, blob.Hash)
			}
			if len(want) > 0 {
				t.Errorf("round %d: %d contents are not there", round, len(want))
			}
		}
		// What was deleted is there again when it comes again.
		b, err := x.Store.Bundle(ctx, hashOf(contents["copied.zip"]))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(x.Store.Write(ctx, func(tx *desk.Tx) error { return tx.SetKept(ctx, b.ID, "", 0) }), x.Blobs.Delete(ctx, b.Kept)); err != nil {
			t.Fatal(err)
		}
		if err := x.Add(ctx, list[:1], 1, nil, func(a intake.Added) error { return a.Err }); err != nil {
			t.Fatal(err)
		}
		again, err := x.Store.Bundle(ctx, b.Hash)
		if err != nil || again.Kept != b.Hash {
			t.Fatalf("%+v, %v, expected what came", again, err)
		}
		content, err := x.Blobs.Open(ctx, again.Kept)
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if text, err := io.ReadAll(content); err != nil || string(text) != contents["copied.zip"] {
			t.Errorf("%q %v", text, err)
		}
	})
}

// full is a store without room.
type full struct{ blobs.Store }

var errFull = errors.New("no space left on device")

func (full) Put(context.Context, io.Reader, int64) (blobs.Kept, error) { return blobs.Kept{}, errFull }

// TestAddFull: if the content of a bundle cannot be stored, nothing of the bundle is.
func TestAddFull(t *testing.T) {
	ctx := context.Background()
	x, r := open(t, filepath.Join(t.TempDir(), "desk"))
	x.Without = without{r}
	x.Blobs = full{x.Blobs}
	dir := t.TempDir()
	for _, name := range []string{"copied.zip", "as-it-is.zip", "fail.zip"} {
		path := write(t, filepath.Join(dir, name), "# 2 bug "+name)
		err := x.Add(ctx, []intake.Source{{Path: path, Name: name}}, 1, nil, func(a intake.Added) error {
			if !errors.Is(a.Err, errFull) || a.Bundle != nil {
				t.Errorf("%s: %v %+v", name, a.Err, a.Bundle)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if b, err := x.Store.Bundle(ctx, hashOf("# 2 bug "+name)); err == nil {
			t.Errorf("%s: %+v", name, b)
		}
	}
}
