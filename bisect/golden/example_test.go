package golden_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/internal/file/files"
)

// A replay is kept, and the next build of the game no longer gives its hashes.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "skirmish.log")
	if err := os.WriteFile(path, []byte("aabbccdd"), 0o666); err != nil {
		log.Fatal(err)
	}

	folder := &golden.Folder{Path: filepath.Join(dir, "golden")}
	kept, err := folder.Record(context.Background(), []golden.Source{{Tree: files.Disk, Path: path}}, golden.RecordOptions{Play: game{}.play})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kept.Replays[0].Replay, kept.Replays[0].Result)

	if folder, err = golden.Open(folder.Path); err != nil {
		log.Fatal(err)
	}
	run, err := folder.Check(context.Background(), golden.Options{Play: game{from: 5}.play})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Replays[0].Replay, run.Replays[0].Result, "in tick", *run.Replays[0].First.Tick)
	// Output:
	// skirmish recorded
	// skirmish diverged in tick 5
}
