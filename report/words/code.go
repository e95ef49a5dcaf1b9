package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// code describes in which line the builds depart.
func code(c *verdict.Conclusion) (found, evidence string) {
	k := c.Code
	switch k.Kind {
	case document.CodeUnknown:
		return "not known", k.Why
	case document.CodeData:
		return "the same branches", inCode(c)[0]
	}
	return k.String(), strings.Join(inCode(c), " ")
}

// inCode describes in a sentence where in the code the builds depart, none if that is not known.
func inCode(c *verdict.Conclusion) []string {
	k := c.Code
	if k == nil || k.Kind == document.CodeUnknown {
		return nil
	}
	where := k.String()
	if k.Tick != nil && c.Tick != nil && *k.Tick != c.Tick.Number {
		where += fmt.Sprintf(", in tick %d already", *k.Tick)
	}
	equal := prose.Count(k.Equal, "equal "+strings.TrimSuffix(k.By, "s"), "equal "+k.By)
	if k.By == "branches" {
		equal = prose.Count(k.Equal, "equal branch", "equal branches")
	}
	since := ""
	if k.Branches != nil && k.Branches.Consequence {
		since = fmt.Sprintf(", since values differ before: %s wrote them", prose.Name(k.Branches.StateFirst))
	}
	switch k.Kind {
	case document.CodeData:
		return []string{fmt.Sprintf("Both builds take the same %s in the tick: they compute other values by the same logic.", prose.Count(k.Equal, "branch", "branches"))}
	case document.CodeUnsteady:
		return []string{fmt.Sprintf("One build, %s, goes another way each time, in %s%s.", prose.Name(k.Branches.Builds[0]), where, since)}
	case document.CodeWrite:
		return []string{fmt.Sprintf("After %s, the builds write different values in %s%s.", equal, where, written(k.Values))}
	}
	return []string{fmt.Sprintf("After %s, the builds go different ways in %s%s.", equal, where, since)}
}

// written lists what the builds write.
func written(values map[string]string) string {
	var list []string
	for name, value := range values {
		list = append(list, prose.Cut(value, 40)+" in "+prose.Name(name))
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return ": " + join(list, "and")
}
