package ci_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
)

// A saved report, as annotations of GitHub Actions.
func ExampleGitHub() {
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
	var commands bytes.Buffer
	if err := ci.GitHub(&commands, saved); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(commands.String()) {
		command, _, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::") // the message follows
		fmt.Println(command)
	}
	// Output:
	// error title=desynctool%3A diverged in tick 1234%2C in Combat
	// warning title=desynctool%3A missing evidence
	// warning title=desynctool%3A warning
}
