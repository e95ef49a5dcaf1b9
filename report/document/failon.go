package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// The values of --fail-on. One of the first three selects the divergences that fail; FailInconclusive may follow it,
// after a comma.
const (
	FailDiverged     = "diverged"     // every divergence
	FailNew          = "new"          // a divergence that no known write-up describes
	FailNever        = "never"        // none
	FailInconclusive = "inconclusive" // in addition, evidence that is lost or lacking
)

// ExitFor returns the exit status of the command that made the report, according to failOn. An empty failOn is
// "diverged,inconclusive", as for every other command. A status that does not fail ends like InSync; Failed always
// stays Failed.
//
//	failOn               diverged  known before  inconclusive
//	""                   1         1             3
//	diverged             1         1             0
//	inconclusive         1         1             3
//	new                  1         0             0
//	new,inconclusive     1         0             3
//	never                0         0             0
//
// A divergence is known before if a write-up in Report.Seen is Known.
func (r *Report) ExitFor(failOn string) (Status, error) {
	divergences, inconclusive := FailDiverged, failOn == ""
	if failOn != "" {
		var named []string
		for _, word := range strings.Split(failOn, ",") {
			switch word {
			case FailInconclusive:
				inconclusive = true
			case FailDiverged, FailNew, FailNever:
				divergences = word
				named = append(named, word)
			default:
				return Failed, fmt.Errorf("--fail-on is %q, expected diverged, new or never, inconclusive, or one of the first with ,inconclusive%s", failOn, prose.DidYouMean(word, []string{FailDiverged, FailNew, FailNever, FailInconclusive}))
			}
		}
		switch {
		case len(named) > 1:
			return Failed, fmt.Errorf("--fail-on is %q, expected one of diverged, new and never", failOn)
		case divergences == FailNever && inconclusive:
			return Failed, fmt.Errorf("--fail-on is %q: never leaves nothing that fails", failOn)
		}
	}
	known := slices.ContainsFunc(r.Seen, func(s SeenBefore) bool { return s.Known })
	switch {
	case r.Status == Diverged && (divergences == FailNever || divergences == FailNew && known):
		return InSync, nil
	case r.Status == Inconclusive && !inconclusive:
		return InSync, nil
	}
	return r.Status, nil
}
