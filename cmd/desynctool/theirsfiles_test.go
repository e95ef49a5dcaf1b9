package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/hostiletest"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// writeTheirs writes the files that two peers leave of a match that diverges in its second half, in folders a and b:
// states, order logs, traces, a log of a game, reports of the game itself. Whatever has a name or a text in them has
// the given one.
func writeTheirs(t *testing.T, dir, name string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	short := name[:min(len(name), 1000)]
	for i, side := range []string{"a", "b"} {
		folder := filepath.Join(dir, side)
		check(os.MkdirAll(folder, 0o777))
		peer := short + " " + side
		var roots []merkle.Hash
		for n := range 4 {
			text := short
			if n > 1 {
				text += side
			}
			number := []byte{byte(n), 0, 0, 0}
			if n > 1 {
				number[1] = byte(i)
			}
			w := &snapshot.World{
				Head: snapshot.Head{
					Seed: 7, Peer: peer, Point: snapshot.Point{Tick: uint64(n), Native: fmt.Sprintf("%s %d", short, n)}, RNG: []byte{1},
					Meta: map[string]string{"build": short + side, "mods": short + side, "os": short + side, short: short + side},
				},
				Tables: []snapshot.Table{
					{Label: short, Class: snapshot.Archetype, Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{
						{Schema: snapshot.Schema{Component: short, Field: short, Type: snapshot.String}, Data: []byte(text), Ends: []uint32{uint32(len(text))}},
						{Schema: snapshot.Schema{Component: short, Field: short + "2", Type: snapshot.U32}, Data: number},
					}},
					{Label: short + " cache", Class: snapshot.Cache, Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{{Schema: snapshot.Schema{Component: short, Field: short, Type: snapshot.U32}, Data: number}}},
				},
			}
			if n == 3 { // a row on one side only, and a column
				w.Tables[0].Keys.A = append(w.Tables[0].Keys.A, uint64(5+i))
				w.Tables[0].Columns[0].Data = append(w.Tables[0].Columns[0].Data, "x"...)
				w.Tables[0].Columns[0].Ends = append(w.Tables[0].Columns[0].Ends, uint32(len(w.Tables[0].Columns[0].Data)))
				w.Tables[0].Columns[1].Data = append(w.Tables[0].Columns[1].Data, 9, 0, 0, 0)
			}
			check(snapshot.WriteFile(filepath.Join(folder, snapshot.Name(7, uint64(n))), w, snapshot.WriteOptions{}))
			s, err := snapshot.Hold(w)
			check(err)
			roots = append(roots, s.Info().Root)
		}
		var log bytes.Buffer
		lw, err := orderlog.NewWriter(&log, orderlog.Header{
			Seed: 7, Peer: peer, Build: short + side, Start: roots[0], Kinds: []orderlog.OrderKind{{Name: short}}, Peers: []string{short + " a", short + " b"}, Params: map[string]string{short: short},
		}, orderlog.WriterOptions{})
		check(err)
		for n := range 3 {
			tick := orderlog.Tick{Number: uint64(n), Orders: []orderlog.Order{{Tick: uint64(n), Player: 1, Payload: []byte(short[:min(len(short), 200)])}}}
			if n == 2 {
				tick.Orders[0].Payload = append(slices.Clone(tick.Orders[0].Payload), side...)
			}
			sum := roots[n+1].Short()
			tick.Hashes = []orderlog.Observed{{Point: uint64(n + 1), Peer: uint32(i), Kind: orderlog.SyncHash, Bytes: sum[:]}}
			check(lw.WriteTick(&tick))
		}
		check(lw.Close())
		check(os.WriteFile(filepath.Join(folder, "order-log.bin"), log.Bytes(), 0o666))
		var trace bytes.Buffer
		tw, err := tracediff.NewWriter(&trace, tracediff.Header{Seed: 7, HasSeed: true, Peer: peer, Build: short + side, Meta: map[string]string{short: short + side}})
		check(err)
		for n := range 3 {
			for k := range 2 {
				value := fmt.Sprintf("0x%02x", n)
				if n == 1 && k == 1 || n == 2 {
					value = fmt.Sprintf("0x%02x", 16+i)
				}
				check(tw.WriteCheckpoint(&tracediff.Checkpoint{Tick: uint64(n), System: fmt.Sprint(short, k), Scope: short, Sums: []tracediff.Sum{{Value: []byte(value)}, {Name: "more", Value: []byte(short[:min(len(short), 20)])}}}))
			}
		}
		check(tw.Close())
		check(os.WriteFile(filepath.Join(folder, "checksums.trace"), trace.Bytes(), 0o666))
		game := "12:00:01 WARNING: " + strings.ReplaceAll(short, "\n", " ") + "\n"
		if i == 1 {
			game += "12:00:01 ERROR: " + strings.ReplaceAll(short, "\n", " ") + " is lost\n"
		}
		check(os.WriteFile(filepath.Join(folder, "game.log"), []byte(game), 0o666))
		var own bytes.Buffer
		if status := run([]string{"report", "--peer", folder, "--player", fmt.Sprint(i), "-o", "-"}, nil, &own, io.Discard); status == 0 {
			check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s_report.json", side)), own.Bytes(), 0o666))
		}
	}
}

// theirCommands are the commands that print text from files, with the formats in which they do.
func theirCommands(dir string) (list [][]string) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, x := range [][]string{
		{"triage", a, b}, {"triage", "--all", a, b}, {"triage", "--color", "always", a, b}, {"triage", a}, {"doctor", a, b}, {"doctor", a}, {"bisect", a, b}, {"orders", a, b}, {"orders", "--all", a, b},
		{"tracediff", filepath.Join(a, "checksums.trace"), filepath.Join(b, "checksums.trace")}, {"walk", a + "@3", b + "@3"}, {"diff", a + "@3", b + "@3"}, {"diff", "--all", a + "@2", b + "@2"},
		{"verify", a, b}, {"check", a}, {"report", filepath.Join(dir, "a_report.json"), filepath.Join(dir, "b_report.json")}, {"report", filepath.Join(dir, "a_report.json")},
		{"replay", a, "--sim", "builtin"}, {"triage", a, b, "--sim", "builtin"}, {"dump", filepath.Join(a, "order-log.bin")}, {"dump", filepath.Join(a, snapshot.Name(7, 3))}, {"dump", filepath.Join(a, "checksums.trace")},
	} {
		list = append(list, x)
		if x[0] != "dump" {
			list = append(list, append(slices.Clone(x), "--format", "json"))
		}
	}
	for _, format := range []string{"html", "markdown", "comment", "junit", "sarif", "github"} {
		list = append(list, []string{"triage", a, b, "--format", format})
	}
	return list
}

// quotation is text between quotation marks, ours or Go's.
var quotation = regexp.MustCompile(`“[^“”]*”|"(\\.|[^"\\])*"`)

// lines are lines of two traces, one below the other.
var lines = regexp.MustCompile(`(?m)^.*(tick=|scope=|sum=).*$|^ *[+-] ….*$`)

// betrayed returns the text around a name that is a sentence where nothing shows that it comes from a file.
func betrayed(text string) string {
	text = lines.ReplaceAllString(html.UnescapeString(text), "")
	text = strings.Join(strings.Fields(hostiletest.Style.ReplaceAllString(text, "")), " ")
	if i := strings.Index(quotation.ReplaceAllString(text, ""), "Wrong: host"); i >= 0 {
		text = quotation.ReplaceAllString(text, "")
		return text[max(0, i-120):min(len(text), i+60)]
	}
	return ""
}

// TestTheirsInFiles: names that are sentences are between quotation marks wherever a command prints them, and no name
// from a file has an effect in the output.
func TestTheirsInFiles(t *testing.T) {
	effort.Whole(t)
	for _, name := range []string{"GITHUB_STEP_SUMMARY", "NO_COLOR", "FORCE_COLOR"} {
		t.Setenv(name, "")
	}
	cases, every := 0, effort.Long(12, 1)
	for i, trick := range hostiletest.Tricks {
		if i%every != 0 || strings.ToValidUTF8(trick, "") != trick {
			continue
		}
		dir := t.TempDir()
		writeTheirs(t, dir, trick)
		for _, args := range theirCommands(dir) {
			var stdout, stderr bytes.Buffer
			status := run(args, strings.NewReader(""), &stdout, &stderr)
			cases++
			show := strings.ReplaceAll(strings.Join(args, " "), dir, "DIR")
			if status == 2 && (args[0] != "replay" && args[0] != "dump") {
				t.Errorf("%.40q: %s ends with %d: %s", trick, show, status, &stderr)
			}
			for k, out := range []string{stdout.String(), stderr.String()} {
				out = strings.ReplaceAll(out, "\u200b", "") // of a comment
				if args[0] == "dump" {
					out = strings.NewReplacer("\ufe0f", "", "\u034f", "", "\u115f", "", "\u3164", "", "\U000e0100", "").Replace(out) // which a string of Go has as they are
				}
				if _, err := hostiletest.Screen([]byte(out)); err != nil {
					t.Errorf("%.40q: %s: %v", trick, show, err)
				}
				if trick == hostiletest.Sentence && !strings.Contains(show, "--format") && args[0] != "dump" {
					if text := betrayed(out); text != "" {
						t.Errorf("%s (%d): %s", show, k, text)
					}
				}
			}
			if strings.HasSuffix(show, "--format json") && args[0] == "triage" {
				var r document.Report
				if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
					t.Errorf("%s: %v", show, err)
				}
				for _, line := range slices.Concat(r.Verdict, r.Next, r.Missing, r.Notes, r.Contradictions) {
					if text := betrayed(line); trick == hostiletest.Sentence && text != "" {
						t.Errorf("%s: %s", show, text)
					}
				}
				for _, line := range r.Next {
					if strings.HasPrefix(line, "desynctool ") {
						if err := hostiletest.OneCommand(line); err != nil {
							t.Errorf("%s: %v", show, err)
						}
					}
				}
			}
			if trick == hostiletest.Sentence && (strings.HasSuffix(show, "github") || strings.HasSuffix(show, "junit")) {
				if text := betrayed(strings.ReplaceAll(stdout.String(), "%0A", "\n")); text != "" {
					t.Errorf("%s: %s", show, text)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}
