package verdict

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// functions are the functions of systems and standard libraries whose call shows a class, where the code that calls them
// decides otherwise in two builds or runs: the whole name, or a part of a name that C++ or Rust made.
var functions = []struct {
	class string
	names []string
	parts []string
}{
	{WallClock, []string{"time", "clock", "gettimeofday", "clock_gettime", "timespec_get"}, []string{"St6chrono3_V212system_clock3now", "St6chrono3_V212steady_clock3now", "3std4time7Instant3now", "3std4time10SystemTime3now"}},
	{Locale, []string{"setlocale", "localeconv", "newlocale", "uselocale", "strcoll", "strxfrm"}, []string{"NSt6locale"}},
}

// containers are parts of the names of functions that go through the hash tables of standard libraries.
var containers = []string{"hashbrown::", "std::_Hashtable<", "std::__detail::_Node_iterator", "std::__detail::_Hash", "std::collections::hash::"}

// causeByCode takes a class that the code shows in which the builds depart: it calls the clock or asks for the locale, or
// one build goes through a hash table in another order each time. Nothing follows if it shows several classes, if the
// branch follows from other values, or if an experiment excludes the class or shows others.
func (c *Conclusion) causeByCode() {
	k := c.Code
	if k == nil || k.Branches == nil || k.Kind != document.CodeBranch && k.Kind != document.CodeUnsteady || k.Branches.Consequence {
		return
	}
	found := map[string]string{} // functions by class
	for _, call := range k.Branches.Calls {
		call, _, _ = strings.Cut(call, "@")
		for _, f := range functions {
			if slices.Contains(f.names, call) || slices.ContainsFunc(f.parts, func(part string) bool { return strings.Contains(call, part) }) {
				found[f.class] = call
			}
		}
	}
	for _, p := range slices.Concat(k.Branches.At, k.Branches.Stack) {
		if k.Kind == document.CodeUnsteady && slices.ContainsFunc(containers, func(part string) bool { return strings.Contains(p.Function, part) }) {
			found[IterationOrder] = p.Function
		}
	}
	for class, function := range found {
		among := slices.ContainsFunc(c.Causes, func(one Cause) bool { return one.Class == class })
		if len(found) > 1 || c.excluded(class) || len(c.Causes) > 0 && c.Causes[0].Confirmed() && !among {
			return
		}
		signs := []Sign{signOf(CalledWhere, function)}
		if among {
			signs = append(signs, c.Causes[0].Signs...)
		}
		c.caused(Seen, nil, signs, class)
	}
}
