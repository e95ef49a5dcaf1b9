package desk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/report/document"
)

// Two bundles of one bug, which is then closed.
func Example() {
	dir, err := os.MkdirTemp("", "desk")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := desk.Open(ctx, filepath.Join(dir, "desk"), desk.Options{Create: true})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	r := document.NoReport(document.Diverged, "host and client diverged in tick 77.")
	r.Session.Game = "arena"
	r.Fingerprints = []document.Fingerprint{{Level: document.LevelKind, Name: "arena state", Digest: "aa"}, {Level: document.LevelStep, Name: "Combat", Digest: "bb"}}
	var group string
	for _, hash := range []string{"first", "second"} {
		err := store.Write(ctx, func(tx *desk.Tx) error {
			bundle, _, err := tx.Receive(ctx, desk.Bundle{Hash: hash, Name: "report.zip"}, desk.Receipt{Name: "report.zip", Source: "example"})
			if err != nil {
				return err
			}
			changes, err := tx.Put(ctx, bundle.ID, "1.0", []desk.Reading{{Report: r}})
			group = changes[0].Group
			fmt.Println("report", changes[0].Report, "new group:", changes[0].NewGroup)
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	editor := desk.Editor{Store: store, Who: "ann"}
	done, err := editor.CloseGroup(ctx, group, "1.4.3")
	fmt.Println(done.What, done.Group == group, err)
	// Output:
	// report 1 new group: true
	// report 2 new group: false
	// close true <nil>
}
