package frame

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Twin is how the text twin of a binary file begins and ends, and how many bytes a line has at most.
type Twin struct {
	Begin, End string
	MaxLine    int
}

// Read gives each line of a text twin to parse, which reports whether the line was the end. Errors contain name and the
// line.
func (t Twin) Read(r io.Reader, name string, parse func(line string) (ended bool, err error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), t.MaxLine)
	number, ended := 0, false
	for lines.Scan() {
		number++
		err := errors.New("line is not UTF-8")
		if utf8.Valid(lines.Bytes()) {
			ended, err = parse(lines.Text())
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	switch err := lines.Err(); {
	case err == bufio.ErrTooLong:
		return fmt.Errorf("%s:%d: line is longer than %d bytes", name, number+1, t.MaxLine)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case number == 0:
		return fmt.Errorf("%s: empty text, expected %q", name, t.Begin)
	case !ended:
		return fmt.Errorf("%s:%d: text ends without %s", name, number, t.End)
	}
	return nil
}
