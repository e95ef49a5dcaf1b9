package pseudonyms

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// people are names as players have them, in twelve scripts.
var people = []string{
	"Zaphodvick", "Trillianova", "xX_Dark_Lord_Xx", "Łukasz", "Żaneta", "Jörgen", "Ólafur", "Ngọc Ánh", "D'Artagnan", "Mary-Jane", "ann", "Bob", "n00bSlayer", "Player One Two",
	"Ольга", "Дмитрий", "Ёжик", "Ελένη", "Γιώργος", "Արմեն", "Աննա", "გიორგი", "ნინო", "דניאל", "שירה", "محمد", "فاطمة", "राहुल", "प्रिया", "สมชาย", "กานดา",
	"山田太郎", "さくら", "カタカナ", "李小龙", "王芳", "김민수", "이영희", "தமிழ்", "அன்பு", "Kévin", "Çağla", "Ömer", "Zoë", "Siân", "Nguyễn", "Søren", "Åse", "ßven", "Iñigo", "J0hnny5", "The Very Long Name Of A Player Who Likes Names That Do Not End Soon",
}

// forms are names of files; A and B stand for two players, a for A in lower case.
var fileForms = []string{
	"A_vs_B", "desync_A", "2026-11-20_A_1", "AB", "A2", "a2", "A-vs-B", "AvsB", "desyncA", "[A] B", "(A)", "replay.A.B", "A's desync", "a_B", "2_A_B", "A_B_2026", "As-game", "games of As", "GGA",
}

// TestWhereNamesEnd: 19 forms of the names of 52 players in names of files, in elements of paths and in texts leave no name.
func TestWhereNamesEnd(t *testing.T) {
	key, err := ParseKey(keyPrefix+strings.Repeat("2a", KeySize), "key")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, first := range people {
		second := people[(i+7)%len(people)]
		pseudonyms := []string{key.Player(first), key.Player(second)}
		for _, form := range fileForms {
			a := first
			if strings.Contains(form, "a2") || strings.Contains(form, "a_") {
				a = strings.ToLower(first)
			}
			if strings.Contains(form, "(A)") {
				a = strings.ToUpper(first)
			}
			n++
			if capital, _ := utf8.DecodeRuneInString(first); form == "GGA" && !unicode.IsUpper(capital) {
				continue // GGann is one word
			}
			hidden := []string{a, second}
			if !strings.Contains(form, "B") {
				hidden = hidden[:1]
			}
			text := strings.NewReplacer("A", a, "a2", a+"2", "a_", a+"_", "B", second).Replace(form)
			got := key.File(text+".zip", pseudonyms)
			for _, name := range hidden {
				if strings.Contains(strings.ReplaceAll(got, "player-", ""), name) || !strings.HasSuffix(got, ".zip") {
					t.Errorf("%s.zip became %s, which has %s", text, got, name)
				}
			}
			s := NewScrubber(key)
			for _, name := range hidden {
				s.name(name)
			}
			if got := s.element(text+".zip", false); slices.ContainsFunc(hidden, func(name string) bool {
				return strings.Contains(like(strings.ReplaceAll(got, "player-", "")), like(name))
			}) {
				t.Errorf("%s.zip in a path became %s", text, got)
			}
			if strings.HasSuffix(form, "As") || strings.HasPrefix(form, "As") || form == "GGA" || form == "AB" || form == "AvsB" || strings.HasSuffix(form, "2") || form == "desyncA" {
				continue // one word of a text: a name in it may be part of any other
			}
			for _, name := range longerFirst(a, second) {
				text = replaceWhole(text, name, "x")
			}
			for _, name := range hidden {
				if strings.Contains(text, name) {
					t.Errorf("%s became %s", form, text)
				}
			}
		}
	}
	if n != len(people)*len(fileForms) {
		t.Errorf("%d names of files", n)
	}
}

func longerFirst(a, b string) []string {
	if len(a) < len(b) {
		return []string{b, a}
	}
	return []string{a, b}
}
