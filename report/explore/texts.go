package explore

import (
	"github.com/desynctool/desynctool/internal/lists"
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
func items(texts []string) []string {
	return lists.Map(texts, func(t string) string { return "- " + t })
}

func point(n *uint64) string {
	if n == nil {
		return "not known"
	}
	return strconv.FormatUint(*n, 10)
}

func numbers(all []uint64, thinned bool) string {
	texts := lists.Map(all[:min(len(all), shownNumbers)], func(n uint64) string { return strconv.FormatUint(n, 10) })
	if len(all) > shownNumbers || thinned {
		texts = append(texts, "… "+strconv.FormatUint(all[len(all)-1], 10))
	}
	return strings.Join(texts, " ")
}
