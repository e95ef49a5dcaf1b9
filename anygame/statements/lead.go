package statements

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// lead is the part of a line before its message.
type lead struct {
	size    int
	program bool   // times, levels, modules or places in source code are there: a program wrote the line
	place   bool   // a place in source code is there
	chat    bool   // the name of a speaker is there
	level   bool   // a word for how grave the message is, is there
	json    bool   // the line is an object of JSON, or has one of its members
	file    bool   // a file that is no source code is there
	role    string // of the peer that wrote the log, if it is there: "host"
}

// data are the ends of the names of files that a game loads or stores.
const data = "zip|7z|rar|gz|pak|pk3|pck|wad|sav|save|dat|bin|json|cfg|dll|exe|so|png|ogg|map|mod|jar|sdz|sd7|rep"

// maxGroup is how many bytes brackets in a lead may hold.
const maxGroup = 80

// chats matches JSON of what a player wrote: {"mod":"chat","text":"…"}
var chats = lazyregexp.New(`(?i)":\s*"(player_?)?chat(_?(message|msg|line))?"`)

// leadOf reads the lead of a line. A line of values has no speaker, and a peer in it is part of the message.
func leadOf(text string, values bool) lead {
	l := lead{json: isMember(text)}
	l.program = l.json && text[0] == '{'
	l.chat = l.program && chats.MatchString(text)
	for {
		rest := strings.TrimLeft(text[l.size:], " |*\u2014\u00bb")
		if l.size > 0 {
			rest = strings.TrimLeft(rest, ":-] ")
		}
		l.size = len(text) - len(rest)
		n := l.next(rest, values)
		if n == 0 {
			return l
		}
		l.size += n
	}
}

// next returns the length of the first part of a lead, 0 if it has ended.
func (l *lead) next(rest string, values bool) int {
	if rest == "" {
		return 0
	}
	if i := strings.IndexByte("[(<", rest[0]); i >= 0 {
		end := strings.IndexByte(rest[:min(len(rest), maxGroup)], "])>"[i])
		if end < 0 {
			return 0
		}
		return l.group(rest, end, values)
	}
	first, _, _ := strings.Cut(rest, " ")
	bare := strings.TrimRight(first, ":,!")
	low := strings.ToLower(bare)
	switch {
	case isPlace(bare):
		l.program, l.place = true, true
		return len(first)
	case levels.has(strings.ToLower(first[:max(0, strings.IndexByte(first, '['))])): // ERROR[10-20|15:46:24.495]
		l.program, l.level = true, true
		return strings.IndexByte(first, '[')
	case hasStem(first):
		return 0
	case l.size == 0 && low == "line" && isLineNumber(firstWord(rest[len(first):])): // of a search
		l.program = true
		return strings.IndexByte(rest, ':') + 1
	case isGlog(first):
		l.program, l.level = true, true
		return len(first)
	case l.program && len(bare) > 4 && digitsOnly(first): // of a thread
		return len(first)
	case len(first) == 1 && levels.has(low) && isUpper(first[0]) && isStamp(firstWord(rest[1:])): // of Godot
		l.program = true
		return 1
	case isStamp(bare) && !strings.HasPrefix(rest[len(first):], " !="), strings.Contains(bare, "::"),
		levels.has(low) && low != "i" && (len(low) > 1 || first != bare):
		l.program, l.level = true, l.level || levels.has(low)
		return len(first)
	case months.has(low) && isDate(rest[len(first):]):
		return len(first) + len(rest[len(first):]) - len(strings.TrimLeft(rest[len(first):], " 0123456789"))
	case l.program && len(first) == 4 && first[:2] == "20" && digitsOnly(first): // the year
		return len(first)
	case oneOf(strings.SplitAfter(low, "=")[0], "level=|time=|ts=|lvl="):
		l.program = true
		return len(first)
	case len(first) > 2 && first[1] == '/' && isUpper(first[0]) && isUpper(first[2]): // of Android
		l.program = true
		return len(first)
	case strings.HasPrefix(low, "msg=\"") || strings.HasPrefix(low, "message=\"") || strings.HasPrefix(low, "text=\""):
		l.program = true
		return strings.IndexByte(low, '"') + 1
	case len(first) > len(bare) && first[len(bare)] == ':':
		next := strings.TrimLeft(rest[len(first):], " ") + " "
		if values && !modules.has(low) || isDigit(next[0]) || next[0] == '"' {
			return 0
		}
		return l.named(bare, low, len(first))
	}
	return 0
}

// isThrown reports whether a text begins as the message of an exception does.
func isThrown(text string) bool {
	return strings.HasPrefix(text, "Exception of type ") || strings.HasPrefix(text, "Unhandled exception") || strings.HasPrefix(text, "thread '")
}

// isLineNumber reports whether a word is a number and a colon.
func isLineNumber(t string) bool {
	digits, ok := strings.CutSuffix(t, ":")
	return ok && digits != "" && digitsOnly(digits)
}

// isGlog reports whether a word is a level and a date as glog writes them: E0305, E190305.
func isGlog(t string) bool {
	return (len(t) == 5 || len(t) == 7) && strings.IndexByte("IWEF", t[0]) >= 0 && digitsOnly(t[1:])
}

// firstWord returns the first word of a text.
func firstWord(text string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
	return first
}

// named reads a word before a colon: a module, the peer that wrote the log, or a speaker.
func (l *lead) named(bare, low string, n int) int {
	switch {
	case strings.Contains(low, "chat"): // the module of what players write
		l.chat = true
	case roles.has(low):
		l.role = low
	case tickWords()[low] != "" || nouns.has(low) || outcomes.has(low) || peerNouns.has(low) || digitsOnly(bare):
		return 0
	case modules.has(low):
		l.program = true
	case strings.ContainsAny(bare, "/[.") && oneOf(low[strings.LastIndexByte(low, '.')+1:], data):
		l.file, l.program = true, true
	case strings.ContainsAny(bare, "/[.") || len(split(bare)) > 1 || strings.ToUpper(bare) == bare && len(bare) > 3, l.level:
		l.program = true
	default:
		l.chat = true
	}
	return n
}

// group reads brackets and their content.
func (l *lead) group(rest string, end int, values bool) int {
	inside := rest[1:end]
	low := strings.ToLower(inside)
	switch {
	case modules.has(low):
		l.program = true
	case rest[0] == '[' && levels.has(strings.ToLower(firstWord(inside))) && strings.Contains(inside, ":"): // and a place
		l.program, l.level = true, true
	case hasStem(inside):
		l.program = l.program || rest[0] == '['
		return 0
	case rest[0] == '<':
		l.chat = true
	case roles.has(low) && !values:
		l.role, l.program = low, true
	case rest[0] == '(' && !l.program && !isStamp(inside):
		return 0
	case inside != "":
		l.program = true
	}
	return end + 1
}

// hasStem reports whether a text has a word for desync.
func hasStem(text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc([]string{"sync", "oos", "mismatch", "diverge", "determinis"}, func(s string) bool {
		return strings.Contains(low, s)
	})
}

// isStamp reports whether a word is a date, a time or both.
func isStamp(t string) bool {
	if len(t) < 3 || !strings.ContainsAny(t, ":.-/") || !isDigit(t[0]) {
		return false
	}
	t = strings.TrimSuffix(strings.TrimSuffix(t, "AM"), "PM")
	return strings.Trim(t, "0123456789:.,-+/TZs") == ""
}

// isMember reports whether a text begins with a member of an object of JSON.
func isMember(text string) bool {
	rest := strings.TrimLeft(text, "{[ ")
	if rest == "" || rest[0] != '"' {
		return false
	}
	end := strings.IndexByte(rest[1:], '"')
	return end > 0 && strings.HasPrefix(strings.TrimLeft(rest[end+2:], " "), ":")
}

// isDate reports whether a date goes on after a month or a day of the week.
func isDate(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	low := strings.ToLower(rest)
	return rest != "" && isDigit(rest[0]) || len(rest) > 3 && months.has(low[:3]) && rest[3] == ' '
}

// isPlace reports whether a word is a place in source code: NAME.EXT:LINE or NAME.EXT(LINE).
func isPlace(t string) bool {
	at := strings.IndexAny(t, ":(")
	return at > 2 && strings.IndexByte(t[:at], '.') > 0 && at+1 < len(t) && strings.Trim(t[at+1:], "0123456789:,)") == ""
}

func digitsOnly(t string) bool { return strings.Trim(t, "0123456789") == "" }
