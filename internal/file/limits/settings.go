package limits

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Settings are values for some limits. The zero value has none: all defaults apply.
type Settings struct{ of map[*Limit]setting }

// UnknownError reports that there is no limit with that name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no limit %q", e.Name) }

// Set sets the limit with that name to a value in the syntax of [Limit.Parse], and replaces an earlier value. from is
// the origin of the value. If there is no such limit, the error is an *[UnknownError].
func (s *Settings) Set(name, text, from string) error {
	l := Named(name)
	if l == nil {
		return &UnknownError{name}
	}
	value, err := l.Parse(text)
	if err != nil {
		return err
	}
	if s.of == nil {
		s.of = map[*Limit]setting{}
	}
	s.of[l] = setting{value, from}
	return nil
}

// Use makes these the limits of the process. Limits without a setting get their defaults. The count for [Excess]
// restarts at 0.
func Use(s Settings) {
	for _, l := range table {
		if set, ok := s.of[l]; ok {
			l.now.Store(&set)
		} else {
			l.now.Store(nil)
		}
	}
	exceeded.Store(0)
	streamed.Store(0)
}

// Read reads lines of the form NAME VALUE; # begins a comment. from is the path of the file, for errors, which also
// contain the line.
func (s *Settings) Read(r io.Reader, from string) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		err := errors.New("expected a name and a value")
		if len(words) == 2 {
			err = s.Set(words[0], words[1], from)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", from, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// List parses "NAME=VALUE,NAME=VALUE". from is the origin.
func (s *Settings) List(text, from string) error {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if err := s.Assign(one, from); err != nil {
			return err
		}
	}
	return nil
}

// Assign parses "NAME=VALUE".
func (s *Settings) Assign(text, from string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q is not NAME=VALUE", text)
	}
	return s.Set(strings.TrimSpace(name), strings.TrimSpace(value), from)
}

// suffixes are the suffixes of numbers. They mean powers of 1024 for bytes, and of 1000 for other units.
const suffixes = "kmgt"

// leastBytes is the lowest limit in bytes. Less is a number that lacks its unit.
const leastBytes = 64

// Parse parses a value: a number, perhaps followed by k, m, g or t, as in 64k, 10m, 1GiB. For a [Duration], it accepts
// the syntax of time.ParseDuration, or "none".
func (l *Limit) Parse(text string) (int64, error) {
	value, ok := l.parse(text)
	switch {
	case !ok:
		return 0, fmt.Errorf("limit %s is %q, expected %s", l.Name, text, l.expected())
	case l.Unit == Bytes && value < leastBytes && !strings.HasSuffix(strings.ToLower(text), "b"):
		return 0, fmt.Errorf("limit %s is %q, which are bytes; did you mean %sMiB or %[3]sGiB?", l.Name, text, text)
	case value > l.Most:
		return 0, fmt.Errorf("limit %s is %q, expected at most %s", l.Name, text, l.Text(l.Most))
	}
	return value, nil
}

func (l *Limit) expected() string {
	switch l.Unit {
	case Bytes:
		return "bytes, such as 65536, 64KiB or 1GiB"
	case Duration:
		return "a time, such as 90s or 10m, or none"
	}
	return "a number, 1 or more, such as 500 or 10k"
}

func (l *Limit) parse(text string) (int64, bool) {
	if l.Unit == Duration {
		if text == "none" {
			return None, true
		}
		d, err := time.ParseDuration(text)
		return int64(d), err == nil && d > 0
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, err := strconv.ParseUint(digits, 10, 62)
	if err != nil || n == 0 {
		return 0, false
	}
	unit := strings.ToLower(text[len(digits):])
	if l.Unit == Bytes {
		unit = strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i")
	}
	factor, power := uint64(1), uint64(1000)
	if l.Unit == Bytes {
		power = 1024
	}
	if unit != "" {
		i := strings.Index(suffixes, unit)
		if len(unit) != 1 || i < 0 {
			return 0, false
		}
		for range i + 1 {
			factor *= power
		}
	}
	high, low := bits.Mul64(n, factor)
	if high != 0 || low > 1<<62 {
		return 0, false
	}
	return int64(low), true
}

// Text returns a value in a form that Parse reads.
func (l *Limit) Text(value int64) string {
	switch l.Unit {
	case Duration:
		if value == None {
			return "none"
		}
		return time.Duration(value).String()
	case Bytes:
		if value < leastBytes { // Parse needs the unit
			return strconv.FormatInt(value, 10) + "b"
		}
		return Size(value)
	}
	return strconv.FormatInt(value, 10)
}

// Size formats a number of bytes as a whole number of the largest possible unit: 64KiB, 1GiB.
func Size(n int64) string {
	unit := 0
	for ; n != 0 && n%1024 == 0 && unit < len(suffixes); unit++ {
		n /= 1024
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10) + []string{"KiB", "MiB", "GiB", "TiB"}[unit-1]
}

// Flag is the flag that raises a limit on a command line. The text of every [Error] contains it.
const Flag = "--limit"

// Error reports that a file reached a limit. Data beyond the limit was not read, so the file is neither known to be
// damaged nor known to equal another.
type Error struct {
	Limit *Limit
	Path  string // of the file; "" if the caller adds it
	Got   int64  // the amount, or more than allowed; 0 if unknown
}

func (e *Error) Error() string {
	l := e.Limit
	text := "limit " + l.Name + " is reached: "
	if e.Got > 0 {
		text += e.amount() + ", at most "
	} else {
		text += "at most "
	}
	text += fmt.Sprintf("%s (%s); %s %s raises it", l.Text(l.Max()), l.Doc, Flag, e.raised())
	if e.Path != "" {
		return e.Path + ": " + text
	}
	return text
}

// Is reports whether target is an error about the same limit.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Limit == e.Limit
}

// amount formats the amount.
func (e *Error) amount() string {
	if e.Limit.Unit == Bytes {
		return strconv.FormatInt(e.Got, 10) + " bytes"
	}
	return strconv.FormatInt(e.Got, 10)
}

// raised returns NAME=VALUE with a value that allows the amount, up to the maximum. If the amount is unknown, the value
// is twice the current one.
func (e *Error) raised() string {
	l, want := e.Limit, e.Got
	if want <= 0 {
		want = 2 * l.Max()
	}
	value := int64(1)
	for value < want && value < 1<<62 {
		value *= 2
	}
	if l.Unit == Duration {
		value = want
	}
	return l.Name + "=" + l.Text(min(value, l.Most))
}
