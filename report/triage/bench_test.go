package triage

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
)

// BenchmarkRead reads small bundles of several games, one after the other: an iteration is a bundle.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	paths := []string{archivetest.Record(b, filepath.Join(dir, "session"), 1)}
	for name, folder := range map[string]string{
		"1.zip": "openttd/town_poke", "2.zip": "spring/silent_health", "3.zip": "0ad/control_mp_orders", "4.zip": "warzone2100/player_power_3peer", "5.zip": "gamelogs/spring",
	} {
		paths = append(paths, zipped(b, filepath.Join(dir, name), filepath.Join(corpus, folder)))
	}
	for name, r := range map[string]*Reader{"here": {}, "isolated": {Isolate: as("reads")}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				read(b, r, paths[i%len(paths)], "report.zip")
			}
		})
	}
}

// TestConcurrent: several bundles are read at once as they are one after the other.
func TestConcurrent(t *testing.T) {
	paths := []string{corpus + "/openttd/town_poke", corpus + "/spring/silent_health", corpus + "/gamelogs/spring"}
	for _, r := range []*Reader{{}, {Isolate: as("reads")}} {
		var all sync.WaitGroup
		want, got := make([]string, len(paths)), make([][2]string, len(paths))
		for i, path := range paths {
			want[i] = asJSON(t, read(t, r, path, "bundle"))
		}
		for i, path := range paths {
			for k := range got[i] {
				all.Go(func() {
					list, err := r.Read(t.Context(), path, "bundle")
					if err == nil {
						got[i][k] = asJSON(t, list)
					}
				})
			}
		}
		all.Wait()
		for i, path := range paths {
			if got[i] != [2]string{want[i], want[i]} {
				t.Errorf("%s: %.1000s\nexpected %.1000s", path, got[i], want[i])
			}
		}
	}
}
