package statements

// joins are words of messages about a machine that a game does not let in.
const joins = "join|joining|joined|connecting|lobby|matchmaking|connection"

// content are words for data that a machine has before a game.
const content = "map|maps|mod|mods|model|models|content|version|versions|data|ruleset|rules|config|configuration"

// aboutData reports whether a statement is about data that the machines had before a game: its message is about joining one, or
// names that data, and has neither a tick nor a word for the state.
func (m *message) aboutData(t trigger, s *statement) bool {
	if s.tickWord != "" && s.tick > 0 || s.of != "" || m.wordAt("state|states|gamestate|simulation|sim|world|rng|random|seed|handshake") >= 0 {
		return false
	}
	if m.configured(t) {
		return true
	}
	if len(s.values) == 0 {
		return false
	}
	return m.wordAt(joins) >= 0 || m.checksOf(content)
}

// checksOf reports whether a word is right before one for a checksum: map-checksums.
func (m *message) checksOf(alternatives string) bool {
	for i := range m.units[:max(0, len(m.units)-1)] {
		if u := m.units[i]; u.kind == word && oneOf(u.text, alternatives) && nouns.has(m.units[min(m.after(i), len(m.units)-1)].text) {
			return true
		}
	}
	return false
}

// configured reports whether a message is about a check of data that failed: Configuration consistency check failed.
func (m *message) configured(t trigger) bool {
	return t.from == 1 && m.units[0].kind == word && oneOf(m.units[0].text, content) && t.to > t.from+2 && oneOf(m.units[t.from+1].text, "check|test")
}
