package web_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/web"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// hostile serves a store with a text in each string that players and those who triage may write.
func hostile(t *testing.T, text string) *site {
	t.Helper()
	s := serve(t)
	s.plant(text)
	return s
}

// plant puts a text into every string of the store.
func (s *site) plant(text string) {
	s.t.Helper()
	ctx := context.Background()
	bad := func(what string) *document.Report {
		r := diverged("Combat", "Health.hp", "", text, "2026-02-01", text)
		r.Verdict, r.Kind = []string{text, text}, "state"
		r.Session.Game = text
		r.Peers = []document.TriagedPeer{{Name: text, Group: 1}, {Name: what + text, Group: 2}}
		r.FirstDivergence.System, r.FirstDivergence.Component, r.FirstDivergence.Archetypes = text, text, []string{text}
		for i := range r.Fingerprints {
			r.Fingerprints[i].Name = what + text
			r.Fingerprints[i].Digest = digest(what + text + string(r.Fingerprints[i].Level))
		}
		r.Stated = []document.Fact{{Name: text, Values: map[string]string{text: text, what + text: what + text}}, {Name: "os", Values: map[string]string{text: text}}}
		r.Causes[0].Class, r.Causes[0].Title, r.Causes[0].Evidence = text, text, []string{text}
		r.Send = []document.Request{{What: text, From: []string{text}}}
		r.Missing, r.Contradictions, r.Ladder = []string{text}, []string{text}, []document.Rung{{Step: text, State: document.RungFound, Found: text, Evidence: text}}
		return r
	}
	_, one := s.add(text, bad("a"), 50)
	_, two := s.add("b"+text, bad("b"), 60)
	weak := bad("c")
	weak.FirstDivergence, weak.Fingerprints = nil, []document.Fingerprint{{Level: document.LevelKind, Name: text, Digest: digest(text)}, {Level: document.LevelMessage, Name: text, Digest: digest(text)}}
	s.add("c"+text, weak, 10)
	e := &desk.Editor{Store: s.Store, Who: text + "who"}
	_, err := e.Link(ctx, one, "https://example.org/?"+text)
	if err != nil && !strings.HasPrefix(err.Error(), "the address of an issue is ") {
		s.t.Fatal(err)
	}
	_, err = e.Name(ctx, one, text+"name")
	for _, f := range []func() error{
		func() error { _, err := e.Note(ctx, one, text+"note"); return err },
		func() error { _, err := e.CloseGroup(ctx, two, text); return err },
		func() error { _, err := e.Merge(ctx, two, one); return err },
		func() error {
			return s.Store.Write(ctx, func(tx *desk.Tx) error {
				b, _, err := tx.Receive(ctx, desk.Bundle{Hash: strings.Repeat("d", 64), Name: text, Bytes: 1, Kept: text, KeptBytes: 1}, desk.Receipt{Name: text, Source: text})
				if err == nil {
					err = tx.SetAside(ctx, b.ID, text)
				}
				return err
			})
		},
	} {
		if err == nil {
			err = f()
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.who = web.Who{Name: text, Read: true, Triage: true, Upload: true}
}

// hostilePages are the addresses of all pages of such a store.
func hostilePages(s *site) []string {
	paths := []string{"/", "/?q=", "/top", "/stats", "/bundles", "/bundles/" + strings.Repeat("d", 64), "/upload", "/audit", "/compare?a=1&b=2", "/compare?a=1&b=3", "/reports/1", "/reports/3"}
	seen := map[string]bool{}
	for _, m := range link.FindAllStringSubmatch(s.page("/?q=state:any")+s.page("/?q=state:merged"), -1) {
		if !seen[m[1]] {
			seen[m[1]] = true
			paths = append(paths, "/groups/"+m[1], "/groups/"+m[1]+"/reports", "/groups/"+m[1]+"?done=1")
		}
	}
	return paths
}

// attacks are texts that must never be more than texts.
var attacks = []string{
	`"><script>window.hacked=1</script>`, `'><img src=x onerror=window.hacked=1>`, `</title><svg onload=window.hacked=1>`, `{{.}}<!--`, "javascript:window.hacked=1",
	"\u202egnp.exe\u2066\u200f", "a\x00\x1b[31m\x7f", "`${window.hacked=1}`", `&quot; onfocus=window.hacked=1 autofocus x="`,
}

var (
	tags      = regexp.MustCompile(`<[a-zA-Z!/][^>]*>`)
	badInTag  = regexp.MustCompile(`(?i)hacked|^<(img|iframe|object|embed|base|link [^>]*href="[^/])|\son\w+\s*=|href="\s*javascript:`)
	unseeable = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
)

// TestHostile: texts that come from players, or from those who triage, stay texts on every page.
func TestHostile(t *testing.T) {
	for i, text := range attacks {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := hostile(t, text)
			for _, path := range hostilePages(s) {
				html := s.page(path)
				if m := unseeable.FindString(html); m != "" {
					t.Errorf("%s: it has %q", path, m)
				}
				html = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAllString(html, "") // of a report, which are known by their hashes
				for _, tag := range tags.FindAllString(strings.ReplaceAll(html, `<input type="hidden"`, `<input`), -1) {
					if m := badInTag.FindString(attributeNames(tag)); m != "" {
						t.Errorf("%s: %q in %s", path, m, tag)
					}
				}
			}
		})
	}
}

// attributeNames is a tag without what stands in its quotation marks, but for addresses of other pages that no
// text is in.
func attributeNames(tag string) string {
	return regexp.MustCompile(`(\w[\w-]*)="([^"]*)"`).ReplaceAllStringFunc(tag, func(attribute string) string {
		if strings.HasPrefix(attribute, "href=") && !strings.HasPrefix(attribute, `href="#`) && !strings.HasPrefix(attribute, `href="https://example.org/`) && !strings.HasPrefix(attribute, `href="/?q=`) {
			return attribute
		}
		name, _, _ := strings.Cut(attribute, "=")
		return name
	})
}

// TestAnyText: whatever the text is, each page has as many elements as with a harmless one, of one word or of several,
// which are compared one by one.
func TestAnyText(t *testing.T) {
	count := func(s *site) (list []int) {
		for _, path := range []string{"/?q=", "/stats", "/bundles", "/compare?a=1&b=2", "/top"} {
			list = append(list, len(tags.FindAllString(strings.ReplaceAll(s.page(path), "<wbr>", ""), -1))) // which long words have
		}
		return list
	}
	want := [2]string{fmt.Sprint(count(hostile(t, "plain"))), fmt.Sprint(count(hostile(t, "two words")))}
	letters := []rune(`<>"'&=/\{}$%;:#a1 !-` + "`\u202e\u00e9")
	random := rand.New(rand.NewPCG(1, 2))
	for range effort.Of(4, 100) {
		text := "x"
		for range 1 + random.IntN(20) {
			text += string(letters[random.IntN(len(letters))])
		}
		text += "x"
		if got := fmt.Sprint(count(hostile(t, text))); got != want[0] && got != want[1] {
			t.Errorf("%q: elements %v, expected %v", text, got, want)
		}
	}
}
