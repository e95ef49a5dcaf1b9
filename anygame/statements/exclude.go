package statements

import (
	"slices"
	"strings"
)

// sourceMarks are found in source code and in help texts, but not in messages.
var sourceMarks = []string{
	"%d", "%s", "%u", "%x", "%X", "%v", "%lu", "%i", "%08", "%zu", "%ld", "{0}", "{1}", "{}", "${", "$(", "#{",
	`("`, `(L"`, `(f"`, `$"`, `")`, `"},`, `" + `, ` + "`, ` = "`, "();", "){", "[]", "==", " := ", " && ", " || ",
	" --", " // ", "</", "/>", "://", `\n`, `\"`, `\r`, `\x`,
}

// sourceBegins and sourceEnds are the begins and ends of lines in source code, help texts and diffs, and of what
// desynctool itself writes.
var (
	sourceBegins = []string{"//", "/*", "--", "@@", "{.", "http", "DIVERGED "}
	sourceEnds   = []string{"{", ";", "*/"}
)

// excluded reports whether a message with a phrase for a desync is about none: it is source code, a setting, a help
// text, an entry of a list of changes, a question, or denies a desync.
func (m *message) excluded(t trigger) bool {
	text := m.text
	if slices.ContainsFunc(sourceBegins, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
		return true
	}
	if slices.ContainsFunc(sourceEnds, func(end string) bool { return strings.HasSuffix(text, end) }) {
		return true
	}
	if _, rest, ok := strings.Cut(text, ");"); ok && !strings.HasPrefix(rest, " ") {
		return true
	}
	if rest, ok := strings.CutPrefix(text, "assertion left == right failed"); ok { // of Rust
		text = rest
	}
	for _, s := range sourceMarks {
		padding := s == "==" && slices.ContainsFunc(m.units, func(u unit) bool { return u.kind == sum && strings.HasSuffix(u.text, s) })
		if strings.Contains(text, s) && !padding && !(m.lead.level && s[0] == '\\') { // errors have texts of several lines
			return true
		}
	}
	if strings.Contains(text, `", "`) && !m.lead.json {
		return true
	}
	from, to := m.sentence(t)
	if m.units[to-1].text == "?" || to < len(m.units) && m.units[to].text == "?" {
		return true
	}
	if !m.lead.program {
		for _, first := range []int{0, from} {
			if u := m.units[first]; u.kind == word && changes.has(u.text) && t.from > first {
				return true
			}
		}
	}
	for _, u := range m.units[t.to:to] {
		if !m.lead.program && oneOf(u.text, "fixed|resolved|solved|longer") {
			return true
		}
	}
	if strings.HasPrefix(m.units[t.from].text, "replay") && m.has(stored|elsewhere) && strings.HasPrefix(m.units[t.to-1].text, "mismatch") {
		return true // Replay mismatch: version 12
	}
	return m.negated(t, from) || t.strong && (m.isOther(t) || m.shows())
}

// shows reports whether a message is about pictures or sound. Their ticks are not the simulation's.
func (m *message) shows() bool {
	if slices.ContainsFunc(split(m.head), func(u unit) bool { return perceived.has(u.text) }) {
		return true
	}
	return m.has(perceived) && !m.has(nouns)
}

// negated reports whether words before a phrase deny it, or make it a case that may come.
func (m *message) negated(t trigger, from int) bool {
	reach := 4
	if !m.lead.program {
		reach = 8
	}
	for i := t.from - 1; i >= max(from, t.from-reach); i-- {
		u := m.units[i]
		if u.kind == number && u.text == "0" && i == t.from-1 && m.units[t.from].kind == word || u.kind == word && conditional.has(u.text) {
			return true
		}
		if u.kind == number && i == t.from-1 && strings.HasSuffix(m.units[t.to-1].text, "s") {
			return true
		}
	}
	return false
}

// isOther reports whether a phrase is part of the name of something else, such as a setting or a file, or is a counter.
func (m *message) isOther(t trigger) bool {
	if t.from > 0 && m.units[t.from-1].end == m.units[t.from].start && strings.Contains("/\\.@", m.units[t.from-1].text) {
		return true
	}
	k := t.to
	for n := 0; k < len(m.units) && n < 3; n++ {
		u := m.units[k]
		if u.text == "state" && strings.HasSuffix(m.units[t.from].text, "ed") { // unsynchronized game state
			return false
		}
		if u.kind == word && harmless.has(u.text) {
			if headings := "report|log|dump|details|info"; oneOf(u.text, headings) && len(m.units)-t.from < 5 && t.from < 3 {
				return false // perhaps the heading of values
			}
			return !slices.ContainsFunc(m.units[k:min(len(m.units), k+4)], func(f unit) bool {
				return failing.has(f.text)
			})
		}
		if u.kind == mark && (u.text == ":" || u.text == "=") && k+1 < len(m.units) {
			v := m.units[k+1]
			if v.kind == mark && k+2 < len(m.units) {
				v = m.units[k+2]
			}
			count := v.kind == number && !m.used[k+1] && len(m.units) <= k+3
			if v.text == "true" {
				return len(m.ticks) == 0
			}
			return count || oneOf(v.text, "false|no|off|none|ok|null|never|disabled|nil")
		}
		if u.kind != mark && u.kind != word || u.kind == mark && u.text != "-" && u.text != `"` {
			return false
		}
		if u.kind == word && !(n == 0 && m.units[t.to-1].kind == word) {
			return false
		}
		k++
	}
	return false
}
