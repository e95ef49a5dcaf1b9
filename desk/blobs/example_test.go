package blobs_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/desk/blobs"
)

// A bundle is kept once, however often it comes, and is found by the SHA-256 of its content.
func Example() {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		log.Fatal(err)
	}
	var hash string
	for range 2 {
		kept, err := store.Put(ctx, strings.NewReader("what a player sent"), 1<<20)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(kept.Hash[:8], kept.Bytes, kept.New)
		hash = kept.Hash
	}
	r, err := store.Open(ctx, hash)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r) // io.EOF means that it matches the hash
	fmt.Printf("%s %v\n", content, err)
	// Output:
	// 67021060 18 true
	// 67021060 18 false
	// what a player sent <nil>
}
