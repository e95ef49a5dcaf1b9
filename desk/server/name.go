package server

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/prose"
)

// maxName is how long the name of a bundle may be, in characters.
const maxName = 120

// noName is what a bundle without a name is called.
const noName = "upload"

// CleanName returns what a bundle is called that came under a name. It is a label and never a path: what
// follows the last slash or backslash, without characters that cannot be seen, and shortened.
func CleanName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSpace(label(name))
	if strings.Trim(name, ".") == "" {
		return noName
	}
	return prose.Shorten(name, maxName)
}

// label takes from a text what cannot be printed, and what turns the direction of the text around it.
func label(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// maxBuild is how long the hint of a build may be, in characters.
const maxBuild = 80

// cleanBuild returns what an upload says of its build.
func cleanBuild(s string) string { return prose.Shorten(strings.TrimSpace(label(s)), maxBuild) }
