package sandbox

import (
	"errors"
	"strings"
	"testing"
)

// TestMissing: restrictions that the system lacks are reported, and the others are applied nevertheless.
func TestMissing(t *testing.T) {
	done := 0
	works := func(Limits) error { done++; return nil }
	fails := errors.New("the kernel is too old")
	for _, c := range []struct {
		name    string
		means   means
		holds   string
		missing []string
	}{
		{"all", means{limit: works, limitMemory: works, files: func(Rules) (string, error) { done++; return "Landlock 7", nil }, calls: func(Rules) error { done++; return nil }},
			"1 MiB of memory, 2 KiB a file written, 3 open files, Landlock 7, seccomp", nil},
		{"no Landlock", means{limit: works, limitMemory: works, files: func(Rules) (string, error) { return "", fails }, calls: func(Rules) error { done++; return nil }},
			"1 MiB of memory, 2 KiB a file written, 3 open files, seccomp", []string{"Landlock (the kernel is too old): files next to the evidence"}},
		{"no seccomp", means{limit: works, limitMemory: works, files: func(Rules) (string, error) { done++; return "Landlock 1", nil }, calls: func(Rules) error { return fails }},
			"1 MiB of memory, 2 KiB a file written, 3 open files, Landlock 1", []string{"seccomp (the kernel is too old): the network"}},
		{"nothing", means{}, "", []string{"1 MiB of memory (this system has none)", "2 KiB a file written, 3 open files (", "Landlock (this system has none)", "seccomp (this system has none)"}},
	} {
		done = 0
		s := enter(Rules{Limits: Limits{Memory: 1 << 62, Written: 2 << 10, Files: 3}}, c.means)
		holds := strings.ReplaceAll(strings.Join(s.Holds, ", "), "4294967296 GiB", "1 MiB")
		missing := strings.ReplaceAll(strings.Join(s.Missing, "\n"), "4294967296 GiB", "1 MiB")
		if holds != c.holds || done != len(s.Holds) || len(s.Missing) != len(c.missing) {
			t.Errorf("%s: %d of these hold: %s\nmissing: %s", c.name, done, holds, missing)
		}
		for _, want := range c.missing {
			if !strings.Contains(missing, want) {
				t.Errorf("%s: missing: %s\nwant %s", c.name, missing, want)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{4 << 30: "4 GiB", 1 << 20: "1 MiB", 3 << 10: "3 KiB", 1025: "1025 bytes", 1536 << 20: "1536 MiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is called %s, want %s", n, got, want)
		}
	}
}
