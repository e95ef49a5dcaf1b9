package statements

import "slices"

// structs gives the one value within the braces after a word for a side to that side, if its name is what the message is
// about or the only word for a sum, and leaves out the others:
//
//	state root mismatch got=0x5f3a91c7 expected=Header { parent_hash: 0x77e01f3b, state_root: 0x9c2100aa }
func (m *message) structs(list []stated) []stated {
	for i := range m.units {
		side := m.sideBefore(i)
		if side == "" {
			continue
		}
		end := m.closing(i)
		of, inside := stated{at: -1}, false
		for _, v := range list {
			if v.at > i && v.at < end {
				inside = true
				if m.isAbout(m.keyOf(v.at), i) && of.at < 0 {
					of = v
				}
			}
		}
		if !inside {
			continue
		}
		list = slices.DeleteFunc(slices.Clone(list), func(v stated) bool { return v.at > i && v.at < end && v.at != of.at })
		if k := slices.IndexFunc(list, func(v stated) bool { return v.at == of.at }); k >= 0 {
			list[k].peer, list[k].role, list[k].name, list[k].noun, list[k].other = called(side), side, "", "", false
		}
	}
	return list
}

// maxTypeName is how many words are between a word for a side and the brace that opens its values.
const maxTypeName = 6

// sideBefore returns the word for a side that the values after an opening brace belong to: expected=Header {. It is empty if
// there is none.
func (m *message) sideBefore(i int) string {
	if m.units[i].text != "{" {
		return ""
	}
	named := false // the type's name, if there is one, has been passed
	for k := i - 1; k >= max(0, i-maxTypeName); k-- {
		u := m.units[k]
		switch {
		case u.kind == word && (named || !u.joined && !m.units[k+1].joined) && (roles.has(u.text) || outcomes.has(u.text)):
			return u.text
		case u.kind == mark && !oneOf(u.text, ":|=|\"|::"), u.kind != mark && u.kind != word:
			return ""
		}
		named = named || oneOf(u.text, ":|=")
	}
	return ""
}

// closing returns the unit that closes a brace, or where the units end.
func (m *message) closing(i int) int {
	depth := 0
	for k := i; k < len(m.units); k++ {
		switch m.units[k].text {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return len(m.units)
}

// keyOf returns the words of the name before a value and its mark: state and root of state_root: 0x5f3a.
func (m *message) keyOf(i int) (words []string) {
	k, marks := i-1, 0
	if k > 0 && m.units[k].text == "(" && m.units[k].end == m.units[i].start && m.units[k-1].kind == word { // state_root: Hash(0x5f3a)
		for k--; k > 0 && m.units[k].joined; k-- {
		}
		k--
	}
	for ; k >= 0 && oneOf(m.units[k].text, ":|=|\"|'"); k-- {
		marks++
	}
	if marks == 0 {
		return nil
	}
	for ; k >= 0 && m.units[k].kind == word; k-- {
		words = append(words, m.units[k].text)
		if !m.units[k].joined {
			slices.Reverse(words)
			return words
		}
	}
	return nil
}

// isAbout reports whether the name of a value is in a message before a place, or a word for a sum by itself where the message
// is not about one part of a tree of hashes.
func (m *message) isAbout(key []string, to int) bool {
	if len(key) == 0 {
		return false
	}
	if len(key) == 1 && nouns.has(key[0]) && !m.chained() && m.wordAt("root") < 0 {
		return true
	}
	for i := 0; i+len(key) <= to; i++ {
		if slices.EqualFunc(m.units[i:i+len(key)], key, func(u unit, w string) bool { return u.kind == word && u.text == w }) {
			return true
		}
	}
	return false
}
