package resultcache_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/resultcache"
)

// A result that was computed once is found again.
func ExampleCache() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 {
		cache, err := resultcache.Open(filepath.Join(dir, "replays"), 1<<30)
		if err != nil {
			fmt.Println("warning:", err) // and nothing else is different
		}
		key := resultcache.Of("game -replay", "the log", "until 40")
		folder, found := cache.Get(key)
		if !found {
			folder, err = cache.Put(key, func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "hashes.txt"), []byte("40 9a3f\n"), 0o600)
			})
			if err != nil {
				log.Fatal(err)
			}
		}
		text, err := os.ReadFile(filepath.Join(folder, "hashes.txt"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("found: %v: %s", found, text)
		cache.Close()
	}
	// Output:
	// found: false: 40 9a3f
	// found: true: 40 9a3f
}
