package explore

import (
	"strconv"
	"strings"
)

// facts are rows of a table: names and values.
type facts [][]string

// add adds a row unless its value is empty.
func (f *facts) add(name, value string) {
	if value != "" {
		*f = append(*f, []string{name, value})
	}
}

// shownNumbers is how many of many numbers are listed.
const shownNumbers = 24

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

func list(texts []string) string { return strings.Join(texts, ", ") }

// items makes a list with a separate entry for each text.
func items(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, "- "+t)
	}
	return out
}

func point(n *uint64) string {
	if n == nil {
		return "not known"
	}
	return strconv.FormatUint(*n, 10)
}

func numbers(all []uint64, thinned bool) string {
	var texts []string
	for _, n := range all[:min(len(all), shownNumbers)] {
		texts = append(texts, strconv.FormatUint(n, 10))
	}
	if len(all) > shownNumbers || thinned {
		texts = append(texts, "… "+strconv.FormatUint(all[len(all)-1], 10))
	}
	return strings.Join(texts, " ")
}
