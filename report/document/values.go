package document

import "fmt"

// maxValues is how many values a saved report may have, including lists and objects: some take a hundred times more
// memory than their text.
const maxValues = 2 << 20

// boundValues returns an error if a JSON text has more values than a saved report may have, before
// memory is taken for them.
func boundValues(b []byte, name string) error {
	n, quoted := 1, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	if n > maxValues {
		return fmt.Errorf("%s: a report has at most %d values", name, maxValues)
	}
	return nil
}
