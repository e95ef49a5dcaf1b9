package server

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/prose"
)

// maxName is the maximum length of a bundle's name, in characters.
const maxName = 120

// noName is the name of a bundle without one.
const noName = "upload"

// CleanName returns a safe name for a bundle. It is a label and never a path: the part after the last slash or
// backslash, without invisible characters, and shortened.
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

// label removes non-printable characters, and characters that change the direction of the text around them.
func label(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// maxBuild is the maximum length of a build in a hint, in characters.
const maxBuild = 80

// cleanBuild returns the build that an upload states.
func cleanBuild(s string) string { return prose.Shorten(strings.TrimSpace(label(s)), maxBuild) }
