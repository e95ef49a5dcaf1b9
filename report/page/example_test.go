package page_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// A saved report, as a page.
func ExampleWrite() {
	const name = "../document/testdata/triage.json"
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	saved, err := document.ReadReport(f, name)
	if err != nil {
		log.Fatal(err)
	}
	var html bytes.Buffer
	if err := page.Write(&html, saved); err != nil {
		log.Fatal(err)
	}
	title := html.String()[bytes.Index(html.Bytes(), []byte("<title>")):]
	fmt.Println(title[:strings.Index(title, "\n")])
	// Output: <title>Desync report: diverged in tick 1234, in Combat</title>
}
