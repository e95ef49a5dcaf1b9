package verdicts

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/report/document"
)

// Grouped is how a report was grouped with others.
type Grouped struct {
	Bug   string
	View  View
	Key   string // "" if it has no key
	Weak  bool
	Found []document.Fingerprint
	// Strict is the strict fingerprint, "" if there is none.
	Strict string
}

// Triaged triages the files of the peers in some folders.
type Triaged func(dirs []string) (*document.Report, error)

// Keyed returns the key by which a report is grouped, and whether the key is weak. ok is false if the report has none.
type Keyed func(*document.Report) (key string, weak, ok bool)

// Group plays sessions, two at once, and triages what each view leaves of them. It returns the keys, and the sessions
// in which the mistake never appeared. A triage error counts as a report without a key. dir returns a folder for a
// session number; the folder must not exist. progress is called after each session. All views except the first are only
// measured for the first session of each bug and for every third from there.
func Group(strikes []Strike, views []View, dir func(int) string, triage Triaged, key Keyed, progress func(done int)) (list []Grouped, hidden []Strike, err error) {
	var (
		all    = make([][]Grouped, len(strikes))
		lock   sync.Mutex
		wait   sync.WaitGroup
		turns  = make(chan struct{}, 2)
		failed error
		done   int
	)
	for i, s := range strikes {
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			own := views
			if s.Number%3 > 0 {
				own = views[:1]
			}
			shown, err := s.Leave(filepath.Join(dir(i), "s"), own, func(v View, dirs []string) error {
				g := Grouped{Bug: s.Bug.Name, View: v}
				if r, err := triage(dirs); err == nil {
					if k, weak, ok := key(r); ok {
						g.Key, g.Weak, g.Found, g.Strict = k, weak, r.Fingerprints, r.Fingerprint
					}
				}
				all[i] = append(all[i], g)
				return nil
			})
			lock.Lock()
			defer lock.Unlock()
			if err == nil && !shown {
				hidden = append(hidden, s)
			}
			if failed = errors.Join(failed, err); progress != nil {
				done++
				progress(done)
			}
		})
	}
	wait.Wait()
	slices.SortFunc(hidden, func(a, b Strike) int { return cmp.Compare(a.Seed, b.Seed) })
	return slices.Concat(all...), hidden, failed
}
