package sums

import (
	"fmt"
	"regexp"
	"strings"
)

// Expressions returns regular expressions for the lines with checksums, as a page desynctool.toml has them: with the
// groups tick, sum or sum_NAME, system and peer. There are none for records, since
// their members have no order, and none if the tick is on another line.
func (p *Pattern) Expressions() (out []string) {
	if p.form != nil {
		return nil
	}
	for i := range p.templates {
		out = append(out, p.templates[i].expression())
	}
	return out
}

// expression returns a regular expression for the lines of a template.
func (t *template) expression() string {
	var b strings.Builder
	if t.text.begin {
		b.WriteString(`^`)
	}
	for _, e := range t.text.elements {
		switch group := t.roles.group(e.slot); {
		case e.kind == literal:
			for i, part := range strings.Split(string(e.text), " ") {
				if i > 0 {
					b.WriteString(`\s+`)
				}
				b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(part), "'", `\x27`))
			}
		case e.kind == word:
			b.WriteString(named(group, `[\pL0-9_]+`))
		case e.kind == handle:
			b.WriteString(named(group, `[\pL0-9_.#@:-]+`))
		case group == "tick" && !t.roles.tickHex:
			b.WriteString(`\s*` + named(group, `[0-9]+`))
		case group != "":
			b.WriteString(`\s*` + named(group, `-?(?:0[xX])?[0-9A-Fa-f]+`))
		default:
			b.WriteString(`\s*-?[0-9A-Fa-fxX.]+`)
		}
		if e.exact {
			b.WriteString(`\b`)
		}
	}
	return b.String()
}

func named(group, pattern string) string {
	if group == "" {
		return pattern
	}
	return fmt.Sprintf("(?P<%s>%s)", group, pattern)
}

// group returns the name of the group of a value, empty if the value has no role.
func (r *roles) group(slot int) string {
	switch {
	case slot < 0:
	case slot == r.tick:
		return "tick"
	case slot == r.scope:
		return "system"
	case slot == r.peer:
		return "peer"
	}
	for _, p := range r.points {
		for _, s := range p.sums {
			if name := nameOf(p.scope, s.name); s.slot == slot && name != "" {
				return "sum_" + name
			} else if s.slot == slot {
				return "sum"
			}
		}
	}
	return ""
}

// nameOf joins the names of a checksum to a word that a group may have as its name.
func nameOf(names ...string) string {
	letters := func(c rune) rune {
		if c < 0x80 && (isLetter(byte(c)) || isDigit(byte(c))) {
			return c
		}
		return '_'
	}
	return strings.Trim(strings.Map(letters, strings.Join(names, "_")), "_")
}
