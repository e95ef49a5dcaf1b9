package compare_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// TestRelays: one log has the checksums of three peers, whatever their names are. States, inputs and archives of the same peers
// are beside it. A session in sync is in sync; else the log narrows the bracket of the states to one tick, and shows who differs.
func TestRelays(t *testing.T) {
	const ticks, wrong, odd = 120, 53, 1
	forms := map[string]func(tick int, peer string, sum uint32) string{
		"words": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf("tick %d peer %s checksum %08x", tick, peer, sum)
		},
		"fields": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf("[3.1] t=%d peer=%s hash=0x%08X", tick, peer, sum)
		},
		"JSON": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf(`{"t":%d,"ev":"hash","who":"%s","tick":%d,"h":"%08x","lag":%d}`, 1725199556106+33*tick, peer, tick, sum, tick*7%300)
		},
		"XML": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf(`<sync frame="%d" player="%s" crc="%08x"/>`, tick, peer, sum)
		},
		"German": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf("Spieler %s: Zug %d, Prüfsumme %d", peer, tick, sum)
		},
		"a table": func(tick int, peer string, sum uint32) string { return fmt.Sprintf("%d,%s,%d", tick, peer, sum) },
	}
	words := map[string]func(tick int, peer string, sum uint32) string{ // names are single words
		"brackets": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf("[%s] frame %d: sync %d", peer, tick, sum)
		},
		"an arrow": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf("%s -> T%05d %08x", peer, tick, sum)
		},
		"a colon": func(tick int, peer string, sum uint32) string {
			return fmt.Sprintf("%s: turn %d crc %d", peer, tick, int32(sum))
		},
	}
	names := [][3]string{{"anna", "bjorn", "chen"}, {"p1", "p2", "p3"}, {"player1", "player2", "player3"}, {"10.0.0.1:4000", "10.0.0.2:4000", "10.0.0.3:4000"},
		{"ann-2", "killer_99", "Zoë"}, {"Anna K", "Bo_b", "C-3"}}
	for i, form := range slices.Sorted(maps.Keys(forms)) {
		for n, peers := range names {
			if effort.Of(1, 0) == 0 || n == i || n == len(names)-1 {
				relaySession(t, form, peers, forms[form], ticks, wrong, odd)
			}
		}
	}
	for i, form := range slices.Sorted(maps.Keys(words)) {
		for n, peers := range names[:5] {
			if effort.Of(1, 0) == 0 || n == i || n == 3 {
				relaySession(t, form, peers, words[form], ticks, wrong, odd)
			}
		}
	}
}

func relaySession(t *testing.T, form string, peers [3]string, line func(tick int, peer string, sum uint32) string, ticks, wrong, odd int) {
	for _, at := range []int{-1, wrong} {
		for _, last := range []int{-1, 40, ticks} { // state, an early one, or none
			files, log := map[string]string{}, []string{}
			file := "server.log"
			switch form {
			case "XML":
				log = append(log, "<log>")
			case "a table":
				log, file = append(log, "tick,player,checksum"), "server.csv"
			}
			all := [3][]moment{moments(1, ticks, -1, 2), moments(1, ticks, -1, 2), moments(1, ticks, -1, 2)}
			all[odd] = moments(1, ticks, at, 2)
			for tick := range ticks {
				for n := range peers {
					p := (n + tick) % 3
					if log = append(log, line(tick, peers[p], all[p][tick].sum())); form != "XML" && form != "a table" && form != "JSON" && tick%7 == 0 {
						log = append(log, "net: loaded texture grass.png")
					}
					if form == "JSON" { // messages of another kind have a tick too
						order := fmt.Sprintf(`{"ev":"order","who":"%s","tick":%d,"op":"build"}`, peers[p], tick+3)
						log = append(log, order, order)
					}
					own := plainName(peers[p]) + "_"
					if form == "words" { // a folder
						own = plainName(peers[p]) + "/"
					}
					if tick <= last && tick%20 == 0 {
						files[fmt.Sprintf("%sstate_%03d.json", own, tick)] = all[p][tick].json(0)
					}
					files[own+"inputs.jsonl"] += fmt.Sprintf("{\"tick\":%d,\"player\":\"%s\",\"cmd\":\"move\",\"arg\":%d}\n", tick, peers[tick%3], tick*13%97)
				}
			}
			files[file] = strings.Join(log, "\n") + "\n"
			if form == "XML" {
				files[file] += "</log>\n"
			}
			dir := t.TempDir()
			for name, text := range files {
				writeFile(t, filepath.Join(dir, name), text)
			}
			what := fmt.Sprintf("%s, %q, wrong from %d on, states up to %d", form, peers, at, last)
			r, fault := triaged(t, archive.Options{}, dir)
			if r == nil {
				t.Errorf("%s: %v", what, fault)
				continue
			}
			text := textOf(t, r)
			first, _, _ := strings.Cut(text, "\n")
			if at < 0 {
				if r.Status != document.InSync || !strings.Contains(text, "checksums of 3 peers") {
					t.Errorf("%s: %s", what, text)
				}
				continue
			}
			b := (*document.BracketDocument)(nil)
			if r.FirstDivergence != nil {
				b = r.FirstDivergence.Bracket
			}
			if last < 0 && !strings.Contains(form, "arrow") && !strings.Contains(text, peers[odd]) {
				t.Errorf("%s: the peer is not named: %s", what, text)
			}
			if r.Status != document.Diverged || b == nil || b.Good == nil || int(b.Bad-*b.Good) != 1 || int(b.Bad) != at && int(b.Bad) != at+1 || strings.Contains(first, ", in ") {
				t.Errorf("%s: %s", what, first)
			}
		}
	}
}

// TestAwayAtFirst: the peer that the bracket of the states is of was away when the checksums first differ. Those of two other peers,
// whose states differ too, narrow it.
func TestAwayAtFirst(t *testing.T) {
	dir := t.TempDir()
	for n, peer := range []string{"ann", "bob", "cid"} {
		at := -1
		if n == 2 {
			at = 53
		}
		var log strings.Builder
		for _, m := range moments(1, 120, at, 2) {
			if n == 0 && m.tick >= 45 && m.tick < 60 {
				continue
			}
			if m.tick%5 == 0 {
				fmt.Fprintf(&log, "net: tick %d hash %08x\n", m.tick, m.sum())
			}
			if m.tick%40 == 0 {
				writeFile(t, filepath.Join(dir, peer, fmt.Sprintf("state_%03d.json", m.tick)), m.json(0))
			}
		}
		writeFile(t, filepath.Join(dir, peer, "game.log"), log.String())
	}
	r, fault := triaged(t, archive.Options{}, dir)
	if r == nil {
		t.Fatal(fault)
	}
	if f := r.FirstDivergence; f == nil || f.Bracket == nil || f.Bracket.Good == nil || *f.Bracket.Good != 50 || f.Bracket.Bad != 55 {
		t.Error(textOf(t, r))
	}
}

// TestPassingSums: checksums that differ for some ticks between two states that are equal show when the peers diverged and when they
// are equal again. If there are states at these ticks, only the checksums differ.
func TestPassingSums(t *testing.T) {
	for _, every := range []int{20, 1} {
		dir, all := t.TempDir(), moments(1, 120, -1, 2)
		for n, peer := range []string{"ann", "bob"} {
			var log strings.Builder
			for _, m := range all {
				sum := m.sum()
				if n == 1 && m.tick >= 53 && m.tick < 56 {
					sum ^= 0x5bd1e995
				}
				fmt.Fprintf(&log, "net: tick %d hash %08x\n", m.tick, sum)
				if m.tick%every == 0 {
					writeFile(t, filepath.Join(dir, peer, fmt.Sprintf("state_%03d.json", m.tick)), m.json(0))
				}
			}
			writeFile(t, filepath.Join(dir, peer, "game.log"), log.String())
		}
		r, fault := triaged(t, archive.Options{}, dir)
		if r == nil {
			t.Fatal(fault)
		}
		text := textOf(t, r)
		if every == 1 {
			if r.Status != document.Diverged || !strings.Contains(text, "Only checksums differ") {
				t.Errorf("with all states: %s", text)
			}
			continue
		}
		if f := r.FirstDivergence; r.Status != document.Diverged || f == nil || f.Bracket == nil || *f.Bracket.Good != 52 || f.Bracket.Bad != 53 || f.Healed == nil || *f.Healed != 56 {
			t.Errorf("%s", text)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plainName is the name of a peer as it is in the names of files.
func plainName(peer string) string { return strings.NewReplacer(" ", "_", ":", "_").Replace(peer) }
