package queue_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/report/triage"
)

// A bundle is stored and waits; a worker triages it.
func Example() {
	if err := storeAndWork(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// waiting
	// read
}

func storeAndWork(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "desk-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := desk.Open(ctx, dir, desk.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	kept, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		return err
	}
	q, err := queue.Open(ctx, store)
	if err != nil {
		return err
	}
	x := &intake.Intake{Store: store, Blobs: kept, Reader: &triage.Reader{}}
	k, err := x.Keep(ctx, intake.Source{Name: "report.txt", Content: strings.NewReader("it was out of sync")})
	if err != nil {
		return err
	}
	defer k.Close()
	b, _, err := q.Receive(ctx, k.Bundle, desk.Receipt{Name: "report.txt", Source: "example"}, queue.Usual)
	if err != nil {
		return err
	}
	fmt.Println(b.State)
	if _, err := q.Work(ctx, x, queue.Options{Jobs: 1, UntilEmpty: true}); err != nil {
		return err
	}
	if b, err = store.BundleByID(ctx, b.ID); err != nil {
		return err
	}
	fmt.Println(b.State)
	return nil
}
