package desynctool_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestRunNamesFolders: every folder that .ci/run names is there. go test of a folder that was renamed fails, but only
// after the steps before it.
func TestRunNamesFolders(t *testing.T) {
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, name := range regexp.MustCompile(`(?m)[\s=](\./[a-z][\w/]*|tools/[\w/.]+|docs/[\w/.]+)`).FindAllStringSubmatch(string(script), -1) {
		named++
		if _, err := os.Stat(strings.TrimSuffix(name[1], "/")); err != nil {
			t.Errorf(".ci/run names %s: %v", name[1], err)
		}
	}
	if named < 15 {
		t.Errorf("%d names of folders were found", named)
	}
}
