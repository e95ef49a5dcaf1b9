package snapshot

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Ignore is a list of rules that hide columns from a diff. Rules only filter the view; they do not change whether
// states differ.
type Ignore struct {
	rules []ignoreRule
}

type ignoreRule struct {
	text                    string
	label, component, field string // globs; component and field are "" if the whole table is hidden
}

// Add adds a rule: "archetype/component.field", or "archetype" for a whole table with its rows. Each of the three parts
// is a glob: * matches any run of characters, ? any single one, and everything else itself.
func (g *Ignore) Add(rule string) error {
	label, column, ok := strings.Cut(rule, "/")
	r := ignoreRule{text: rule, label: label}
	if ok {
		if r.component, r.field, ok = strings.Cut(column, "."); !ok || r.component == "" || r.field == "" {
			return fmt.Errorf("ignore rule %q: expected archetype/component.field", rule)
		}
	}
	if label == "" {
		return fmt.Errorf("ignore rule %q has no archetype", rule)
	}
	g.rules = append(g.rules, r)
	return nil
}

// Read adds the rules in r, one a line. Empty lines and lines that begin with # are skipped. Errors contain name.
func (g *Ignore) Read(r io.Reader, name string) error {
	scanner := bufio.NewScanner(r)
	for line := 1; scanner.Scan(); line++ {
		rule := strings.TrimSpace(scanner.Text())
		if rule == "" || rule[0] == '#' {
			continue
		}
		if err := g.Add(rule); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// table returns the rule that hides a whole table, or "".
func (g *Ignore) table(label string) string {
	if g != nil {
		for _, r := range g.rules {
			if r.field == "" && glob(r.label, label) {
				return r.text
			}
		}
	}
	return ""
}

// column returns the rule that hides a column, or "".
func (g *Ignore) column(label, component, field string) string {
	if g != nil {
		for _, r := range g.rules {
			if r.field != "" && glob(r.label, label) && glob(r.component, component) && glob(r.field, field) {
				return r.text
			}
		}
	}
	return ""
}

// glob matches s against a pattern of literals, * and ?.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0 // where to resume: the last * and the characters it matched
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
