package verdicts

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/report/document"
)

// Grouped is how a report was put together with others.
type Grouped struct {
	Bug   string
	View  View
	Key   string // "" if it has no key
	Weak  bool
	Found []document.Fingerprint
}

// Triaged triages what peers left in some folders.
type Triaged func(dirs []string) (*document.Report, error)

// Keyed returns the key by which a report is grouped, whether that is a weak one, and false if it
// has none.
type Keyed func(*document.Report) (key string, weak, ok bool)

// Group plays sessions, two at once, triages what each view leaves of them, and returns the keys, and
// the sessions in which the mistake never showed. An error of a triage counts as a report without a key.
// Dir returns a folder that is not there for the session of a number; progress is called after each. All
// views but the first are measured of the first session of each bug and of every third from there.
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
						g.Key, g.Weak, g.Found = k, weak, r.Fingerprints
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
