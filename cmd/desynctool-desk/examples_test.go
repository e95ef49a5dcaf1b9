package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// playground is a folder with the desks and bundles that the examples name.
type playground struct {
	t   *testing.T
	dir string
}

func (p *playground) check(err error) {
	if p.t.Helper(); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command here, which must succeed.
func (p *playground) run(args ...string) {
	p.t.Helper()
	runDesk(p.t, 0, args...)
}

// bundles has a folder and an archive of bundles.
func (p *playground) bundles() {
	p.t.Helper()
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 20, SnapshotEvery: 10}
	_, err := session.RecordTo("report", o, session.TraceSystem)
	p.check(err)
	p.check(os.Mkdir("reports", 0o777))
	b, err := os.ReadFile(filepath.Join("report", "host", "order-log.bin"))
	p.check(err)
	p.check(os.WriteFile("report.zip", b, 0o666))
}

// desk makes the desk that the examples ask: two bugs of a game, the first one with two variants, with the codes of the
// examples; and another desk.
func (p *playground) desk() {
	p.t.Helper()
	ctx := context.Background()
	s, err := desk.Open(ctx, "desk", desk.Options{Create: true})
	p.check(err)
	defer s.Close()
	kept, err := blobs.Open(filepath.Join("desk", "blobs"))
	p.check(err)
	for i, step := range []string{"Combat", "Movement", "Combat"} {
		k, err := kept.Put(ctx, strings.NewReader(fmt.Sprint("bundle ", i)), 0)
		p.check(err)
		r := document.NoReport(document.Diverged, "alice and bob diverged.")
		r.Error = ""
		r.Session.Game, r.Session.Build = "mygame", "1.4.2"
		r.Peers = []document.TriagedPeer{{Name: "alice", Group: 1}, {Name: "bob", Group: 2}}
		r.Fingerprint = fmt.Sprintf("%016x", i)
		r.Fingerprints = []document.Fingerprint{{Level: document.LevelKind, Name: "mygame state", Digest: "00"}, {Level: document.LevelStep, Name: step, Digest: hex.EncodeToString([]byte(step))}}
		p.check(s.Write(ctx, func(tx *desk.Tx) error {
			b, _, err := tx.Receive(ctx, desk.Bundle{Hash: k.Hash, Name: "upload.txt", Bytes: k.Bytes, Kept: k.Hash, KeptBytes: k.Stored}, desk.Receipt{Name: "upload.txt", Source: "desk add"})
			if err == nil {
				_, err = tx.Put(ctx, b.ID, "test", []desk.Reading{{Report: r, Complete: 50}})
			}
			return err
		}))
	}
	for id, code := range map[int]string{1: "3f9a2c12", 2: "77ab01cd"} {
		_, err := s.DB().Exec("UPDATE groups SET code = $1 WHERE id = $2", code, id)
		p.check(err)
	}
	p.run("export", "desk.tar.zst")
	p.run("import", "desk.tar.zst", "--store", "other")
	p.check(os.Remove("desk.tar.zst"))
}

// TestExamples runs the examples in the help of every command as they are, with the files that they name.
func TestExamples(t *testing.T) {
	effort.Whole(t)
	p := &playground{t, t.TempDir()}
	t.Chdir(p.dir)
	p.bundles()
	p.desk()
	p.door()
	clitest.Examples(t, program, effort.Of(3, 1), func(command, dir string) bool {
		switch command {
		case "completion powershell", "serve": // not for bash; ends when it is interrupted
			return false
		case "export", "import": // out of two that are there, into two that are not
			for _, name := range []string{"desk", "other"} {
				from := name
				if name = filepath.Join(dir, name); command == "export" {
					p.check(os.CopyFS(name, os.DirFS(filepath.Join(p.dir, from))))
				}
			}
			if command == "import" {
				p.run("export", filepath.Join(dir, "desk.tar.zst"))
			}
			return true
		}
		p.check(os.CopyFS(dir, os.DirFS(p.dir)))
		if err := os.Chmod(filepath.Join(dir, "desk", "key"), 0o600); !errors.Is(err, fs.ErrNotExist) { // CopyFS takes no permissions along
			p.check(err)
		}
		return true
	})
}
