package partial_test

import (
	"bytes"
	"fmt"

	"github.com/desynctool/desynctool/internal/file/partial"
)

// What is missing in one side of a diff.
func Example() {
	text := partial.Head{Format: "openra", Paste: "1"}.Line()
	text = append(text, "Player: …\n"...)
	text = append(text, partial.Gap{First: 2, Last: 1882, Next: 1883}.Line()...)
	text = append(text, "\t 236 e1 …\n"...)

	head, rest, _ := partial.Cut(text)
	var missing partial.Missing
	for line := range bytes.Lines(rest) {
		if gap, ok := partial.ParseGap(bytes.TrimSuffix(line, []byte("\n"))); ok {
			missing.Add(gap)
		}
	}
	fmt.Printf("%s: %s\n", head.Format, &missing)
	// Output:
	// openra: lines 2–1882 are not in it
}
