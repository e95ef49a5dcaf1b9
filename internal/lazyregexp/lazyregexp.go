// Package lazyregexp compiles regular expressions on first use. Compiling the expressions of all packages takes longer
// than the shortest commands do.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync/atomic"
)

// Regexp is a regular expression that is compiled when one of its methods is first called. It has methods of
// regexp.Regexp.
type Regexp struct {
	expr  string
	known atomic.Pointer[regexp.Regexp]
}

// New returns a regular expression, which must be valid. In tests it is compiled at once.
func New(expr string) *Regexp {
	r := &Regexp{expr: expr}
	if inTest {
		r.compiled()
	}
	return r
}

// compiled returns the compiled expression. Two goroutines that need it first may both compile it.
func (r *Regexp) compiled() *regexp.Regexp {
	re := r.known.Load()
	if re == nil {
		re = regexp.MustCompile(r.expr)
		r.known.Store(re)
	}
	return re
}

var inTest = strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// Match is like regexp.Regexp.Match.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString is like regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindSubmatch is like regexp.Regexp.FindSubmatch.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

// FindStringSubmatch is like regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// ReplaceAllString is like regexp.Regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.compiled().ReplaceAllString(src, repl)
}

// FindStringIndex is like regexp.Regexp.FindStringIndex.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindString is like regexp.Regexp.FindString.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindAllSubmatchIndex is like regexp.Regexp.FindAllSubmatchIndex.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllSubmatchIndex(b, n)
}

// FindAllStringSubmatchIndex is like regexp.Regexp.FindAllStringSubmatchIndex.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// SubexpIndex is like regexp.Regexp.SubexpIndex.
func (r *Regexp) SubexpIndex(name string) int { return r.compiled().SubexpIndex(name) }

// FindAllStringSubmatch is like regexp.Regexp.FindAllStringSubmatch.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}
