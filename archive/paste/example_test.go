package paste_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/desynctool/desynctool/archive/paste"
	"github.com/desynctool/desynctool/internal/file/partial"
)

// A diff that a player pasted into a post.
func Example() {
	post := "Here is the diff:\n\n```diff\n--- host/sum.txt\n+++ client/sum.txt\n@@ -1,2 +1,2 @@\n sums of my game\n-tick 7: 1a\n+tick 7: 1b\n```\nAny idea?\n"
	known := paste.Known{
		Whole: func(head []byte) string {
			if bytes.HasPrefix(head, []byte("sums of my game\n")) {
				return "sums"
			}
			return ""
		},
		Lines: func([]byte) string { return "" },
	}
	p, err := paste.Peel([]byte(post), known)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range p.Files {
		head, text, _ := partial.Cut(f.Text)
		fmt.Printf("%s/%s, an excerpt of %s:\n%s", f.Folder, f.Name, head.Format, text)
	}
	// Output:
	// host/sum.txt, an excerpt of sums:
	// sums of my game
	// tick 7: 1a
	// client/sum.txt, an excerpt of sums:
	// sums of my game
	// tick 7: 1b
}
