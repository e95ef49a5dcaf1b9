package excerpt_test

import (
	"bytes"
	"fmt"

	"github.com/desynctool/desynctool/orderlog/excerpt"
)

// What is missing in one side of a diff.
func Example() {
	text := excerpt.Head{Format: "openra", Paste: "1"}.Line()
	text = append(text, "Player: …\n"...)
	text = append(text, excerpt.Gap{First: 2, Last: 1882, Next: 1883}.Line()...)
	text = append(text, "\t 236 e1 …\n"...)

	head, rest, _ := excerpt.Cut(text)
	var missing excerpt.Missing
	for line := range bytes.Lines(rest) {
		if gap, ok := excerpt.ParseGap(bytes.TrimSuffix(line, []byte("\n"))); ok {
			missing.Add(gap)
		}
	}
	fmt.Printf("%s: %s\n", head.Format, &missing)
	// Output:
	// openra: lines 2–1882 are not in it
}
