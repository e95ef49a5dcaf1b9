package browser_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/internal/browser"
)

// $BROWSER names the command that opens the file; here one that does nothing with it.
func Example() {
	os.Setenv("BROWSER", "go env %s")
	fmt.Println(browser.Open("report.html"))
	// Output: <nil>
}
