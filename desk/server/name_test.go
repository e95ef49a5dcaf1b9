package server_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/desynctool/desynctool/desk/server"
)

// FuzzCleanName: a name is a label, whatever came: never a path, never empty, without what cannot be seen.
func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"report.zip", "../../etc/passwd", `C:\x\y.zip`, "..", ".", "", "a\x00b", "\u202egnp.exe", "\xff\xfe", strings.Repeat("é", 500), " \t", "a/", "con"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := server.CleanName(s)
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00\n\r\u202e") || !utf8.ValidString(name) || utf8.RuneCountInString(name) > 4*120 {
			t.Errorf("%q becomes %q", s, name)
		}
		if again := server.CleanName(name); again != name {
			t.Errorf("%q becomes %q, and that %q", s, name, again)
		}
	})
}
