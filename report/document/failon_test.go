package document

import "testing"

func TestExitFor(t *testing.T) {
	with := func(s Status, seen ...SeenBefore) *Report { return &Report{Head: Head{Status: s}, Seen: seen} }
	inSync, fresh, lacking, failed := with(InSync), with(Diverged), with(Inconclusive), with(Failed)
	alike := with(Diverged, SeenBefore{Title: "the same place"})
	known := with(Diverged, SeenBefore{Title: "the same place"}, SeenBefore{Title: "the same bug", Known: true})
	for _, c := range []struct {
		failOn                                         string
		inSync, fresh, alike, known, lacking, unusable int
	}{
		{"", 0, 1, 1, 1, 3, 2},
		{"diverged", 0, 1, 1, 1, 0, 2},
		{"inconclusive", 0, 1, 1, 1, 3, 2},
		{"diverged,inconclusive", 0, 1, 1, 1, 3, 2},
		{"inconclusive,diverged", 0, 1, 1, 1, 3, 2},
		{"new", 0, 1, 1, 0, 0, 2},
		{"new,inconclusive", 0, 1, 1, 0, 3, 2},
		{"never", 0, 0, 0, 0, 0, 2},
	} {
		for _, is := range []struct {
			name string
			r    *Report
			want int
		}{
			{"in sync", inSync, c.inSync}, {"diverged", fresh, c.fresh}, {"like a known one", alike, c.alike},
			{"known", known, c.known}, {"inconclusive", lacking, c.lacking}, {"unusable", failed, c.unusable},
		} {
			status, err := is.r.ExitFor(c.failOn)
			if err != nil || status.ExitCode() != is.want {
				t.Errorf("--fail-on %q, %s: exit status %d (%v), want %d", c.failOn, is.name, status.ExitCode(), err, is.want)
			}
		}
	}
	for _, bad := range []string{"Diverged", "sometimes", "diverged,", ",", "diverged,new", "never,new", "never,inconclusive", "diverged inconclusive", "1"} {
		for _, r := range []*Report{inSync, fresh} {
			if status, err := r.ExitFor(bad); err == nil || status != Failed {
				t.Errorf("--fail-on %q: %s and no error", bad, status)
			}
		}
	}
}
