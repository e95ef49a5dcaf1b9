package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// peerNamesPlain returns the result of PeerNames, looked up name by name and path by path.
func peerNamesPlain(said, paths []string) (names []string) {
	var parts [][]string
	for _, path := range paths {
		parts = append(parts, strings.Split(path, "/"))
	}
	parts = cutSharedEnd(parts)
	distinct := func(i int) string {
		for n := 1; n < len(parts[i]); n++ {
			end := strings.Join(parts[i][len(parts[i])-n:], "/")
			shared := 0
			for _, p := range parts {
				if strings.HasSuffix("/"+strings.Join(p, "/"), "/"+end) {
					shared++
				}
			}
			if shared == 1 {
				return end
			}
		}
		return strings.Join(parts[i], "/")
	}
	for i := range paths {
		base := said[i]
		if base == "" {
			base = distinct(i)
		}
		for j := range paths {
			if last := parts[j][len(parts[j])-1]; j != i && last == said[i] && parts[i][len(parts[i])-1] != last {
				base = distinct(i) // the name of another one's folder
			}
		}
		name := base
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s#%d", base, n)
		}
		names = append(names, name)
	}
	return names
}

func TestPeerNamesPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var said, paths []string
		for range rapid.IntRange(1, 12).Draw(t, "peers") {
			said = append(said, rapid.SampledFrom([]string{"", "", "a", "b", "a#2", "a#3"}).Draw(t, "said"))
			paths = append(paths, strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4).Draw(t, "path"), "/"))
		}
		if got, want := PeerNames(said, paths), peerNamesPlain(said, paths); !slices.Equal(got, want) {
			t.Fatalf("%q in %q: %q, want %q", said, paths, got, want)
		}
	})
}

// Files that each lie in a folder of their own belong to the folders' players.
func TestPeerNamesOfFolders(t *testing.T) {
	for _, c := range [][3][]string{
		{{"x/Ann/host.log", "x/Bob/client.log"}, {"", ""}, {"Ann", "Bob"}},
		{{"Ann/host.log", "Bob/client.log", "Cid/host.log"}, {"", "", ""}, {"Ann", "Bob", "Cid"}},
		{{"Ann/host.log", "Ann/client.log"}, {"", ""}, {"host.log", "client.log"}},
		{{"Ann/host.log", "client.log"}, {"", ""}, {"host.log", "client.log"}},
		{{"logs/host.log", "states/client.json"}, {"", ""}, {"host.log", "client.json"}},
		{{"../host.log", "Bob/client.log"}, {"", ""}, {"host.log", "client.log"}},
		{{"Ann/host", "Bob/client"}, {"", ""}, {"host", "client"}},
		{{"Ann/host.log", "Bob/client.log"}, {"eve", ""}, {"eve", "Bob"}},
	} {
		if got := PeerNames(c[1], c[0]); !slices.Equal(got, c[2]) {
			t.Errorf("%q: %q, expected %q", c[0], got, c[2])
		}
	}
}
