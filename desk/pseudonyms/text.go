package pseudonyms

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
)

// patterns finds candidates for addresses and user folders in a text. The functions below decide; the form alone is not
// enough.
var patterns = lazyregexp.New(`(?i)` +
	`(?P<mail>[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+)` +
	`|(?P<home>(?:[a-z]:)?[\\/]+(?:users|home|documents and settings)[\\/]+)(?P<user>[^\\/:*?"<>|\r\n\t]+)` +
	`|(?P<six>\[?(?:[0-9a-f]{0,4}:){2,8}(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{1,4})?(?:%[0-9a-z]+)?\]?(?::[0-9]{1,5})?)` +
	`|(?P<four>[0-9]{1,3}(?:\.[0-9]{1,3}){3,}(?::[0-9]{1,5})?)` +
	`|(?P<steam>\b7656119[0-9]{10}\b|\bSTEAM_[0-5]:[01]:[0-9]{1,10}\b|\[U:1:[0-9]{1,10}\])`)

// mayMatch reports whether patterns may find something in a text. Most texts have no candidates.
func mayMatch(text string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	dots, slashes, seven := 0, false, false
	colon := -6 // the last one, or far away
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf: // some such letters count as ASCII letters
			return strings.ContainsAny(text, `.:@/\7`)
		case c == '@':
			return true
		case c == '.' && digit(i-1) && digit(i+1):
			dots++
		case c == ':':
			if i-colon <= 5 && strings.Trim(text[colon+1:i], "0123456789abcdefABCDEF") == "" {
				return true
			}
			colon = i
		case c == '/', c == '\\':
			slashes = true
		case c == '7':
			seven = true
		}
	}
	if dots >= 3 || seven && strings.Contains(text, "7656119") {
		return true
	}
	if !slashes {
		return false
	}
	text = strings.ToLower(text)
	return strings.Contains(text, "users") || strings.Contains(text, "home") || strings.Contains(text, "documents and settings")
}

// addresses replaces the addresses in a text, including e-mail, numbers of Steam accounts, and the names of users in
// paths of home folders. It keeps loopback addresses and addresses that belong to nobody. versions are texts that look
// like addresses but are not.
func (s *Scrubber) addresses(text string, versions map[string]bool) string {
	if !mayMatch(text) {
		return text
	}
	group := patterns.SubexpIndex
	var out strings.Builder
	last := 0
	for _, m := range patterns.FindAllStringSubmatchIndex(text, -1) {
		part := func(name string) string {
			if i := group(name); m[2*i] >= 0 {
				return text[m[2*i]:m[2*i+1]]
			}
			return ""
		}
		found, with := text[m[0]:m[1]], ""
		switch {
		case part("mail") != "", part("steam") != "":
			with = s.key.Address(found)
		case part("user") != "":
			if user := part("user"); !common(user) {
				with = part("home") + s.key.Player(user)
			}
		case part("six") != "":
			if digitBeside(text, m[0], m[1]) || !isSix(found) {
				continue
			}
			with = s.key.Address(found)
		case part("four") != "":
			if digitBeside(text, m[0], m[1]) || !isFour(found) || versions[found] || named(text[:m[0]]) {
				continue
			}
			with = s.key.Address(found)
		}
		if with == "" {
			continue
		}
		out.WriteString(text[last:m[0]] + with)
		last = m[1]
	}
	return out.String() + text[last:]
}

// common reports whether a home folder does not belong to a particular user.
func common(user string) bool {
	switch strings.ToLower(user) {
	case "public", "default", "all users", "shared", "runner", "user", "root", "build", "jenkins", "desynctool":
		return true
	}
	return IsRole(user)
}

// digitBeside reports whether the text before or after a match continues it, for example with a letter or a digit.
func digitBeside(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	word := func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
	}
	return word(before) || word(after) || before == '.' || before == ':'
}

// named reports whether a text ends with a word that introduces a version.
func named(before string) bool {
	before = strings.ToLower(strings.TrimRight(before, " :=\"'“(v"))
	return slices.ContainsFunc([]string{"version", "build", "release", "driver", "revision", "ver", "ver."}, func(word string) bool {
		return strings.HasSuffix(before, word)
	})
}

// isFour reports whether a text is the IPv4 address of a machine, perhaps with a port.
func isFour(text string) bool {
	host, port, hasPort := strings.Cut(text, ":")
	if n, err := strconv.Atoi(port); hasPort && (err != nil || n > 65535) {
		return false
	}
	a, err := netip.ParseAddr(host)
	return err == nil && !a.IsLoopback() && !a.IsUnspecified() && a != broadcast
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// isSix reports whether a text is the IPv6 address of a machine, and not a name such as add::bed or a time. It has four
// groups, or a scope, or digits and a gap.
func isSix(text string) bool {
	host := text
	if rest, ok := strings.CutPrefix(text, "["); ok {
		var port string
		if host, port, ok = strings.Cut(rest, "]"); !ok || port != "" && port[0] != ':' {
			return false
		}
	} else if strings.HasSuffix(text, "]") {
		return false
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.IsLoopback() || a.IsUnspecified() || !a.Is6() {
		return false
	}
	groups := lists.Count(strings.Split(host, ":"), func(g string) bool { return g != "" })
	return groups >= 4 || a.Zone() != "" || a.Is4In6() || groups >= 2 && strings.ContainsAny(host, "0123456789") && strings.Contains(host, "::")
}

// minName is the minimum length in characters of a name that is searched for in quotations. Shorter names are parts of
// everything. A character of a script without letters, such as 明, counts as two: most names have two.
const minName = 3

// sought reports whether a name is long enough to be searched for.
func sought(name string) bool {
	n := 0
	for _, r := range name {
		if n++; unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
			n++
		}
	}
	return n >= minName
}

// inQuote replaces the known names in a text from a file where they are separate words, and addresses.
func (s *Scrubber) inQuote(text string, versions map[string]bool) string {
	return s.addresses(s.replaced(text, s.quoted), versions)
}

// replaced replaces names that are separate words, the longest first.
func (s *Scrubber) replaced(text string, list []pair) string {
	for _, p := range list {
		text = replaceWhole(text, p.old, p.new)
	}
	return text
}

// replaceWhole replaces a text where it is a separate name: see [goesOn].
func replaceWhole(text, old, with string) string {
	if !strings.Contains(text, old) {
		return text
	}
	first, _ := utf8.DecodeRuneInString(old)
	last, _ := utf8.DecodeLastRuneInString(old)
	long := utf8.RuneCountInString(old) >= longName
	var out strings.Builder
	from := 0
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		begin, end := at+i, at+i+len(old)
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if begin > 0 && goesOn(before, first, long) || end < len(text) && goesOn(last, after, long) {
			_, size := utf8.DecodeRuneInString(text[begin:])
			at = begin + size
			continue
		}
		out.WriteString(text[from:begin] + with)
		from, at = end, end
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// longName is the minimum length in characters of a name that digits and capitals also end. A1 and ABc are single
// words; Zaphod1 and ZaphodTrillian consist of names.
const longName = 5

// goesOn reports whether a word continues from one character to the next. It is the only rule for where a name ends. An
// underscore ends it, like all signs. For long names, a digit next to a letter and a capital after a small letter end
// it too. A mark belongs to the letter before it.
func goesOn(a, b rune, long bool) bool {
	word := func(r rune) bool { return unicode.In(r, unicode.L, unicode.Nd) }
	switch {
	case unicode.Is(unicode.M, b):
		return true
	case unicode.Is(unicode.M, a):
		a = 'a' // any letter
	}
	if !word(a) || !word(b) {
		return false
	}
	if long && (unicode.IsDigit(a) != unicode.IsDigit(b) || unicode.IsLower(a) && unicode.IsUpper(b)) {
		return false
	}
	return true
}
