package pseudonyms

import (
	"strings"
	"testing"
	"unicode"
)

// people are names as players have them, in twelve scripts.
var people = []string{
	"Zaphodvick", "Trillianova", "xX_Dark_Lord_Xx", "Łukasz", "Żaneta", "Jörgen", "Ólafur", "Ngọc Ánh", "D'Artagnan", "Mary-Jane", "ann", "Bob", "n00bSlayer", "Player One Two",
	"Ольга", "Дмитрий", "Ёжик", "Ελένη", "Γιώργος", "Արմեն", "Աննա", "გიორგი", "ნინო", "דניאל", "שירה", "محمد", "فاطمة", "राहुल", "प्रिया", "สมชาย", "กานดา",
	"山田太郎", "さくら", "カタカナ", "李小龙", "王芳", "김민수", "이영희", "தமிழ்", "அன்பு", "Kévin", "Çağla", "Ömer", "Zoë", "Siân", "Nguyễn", "Søren", "Åse", "ßven", "Iñigo",
}

// TestWhereNamesEnd: two hundred forms of names in names of files, and in texts, leave no name.
func TestWhereNamesEnd(t *testing.T) {
	key, err := ParseKey(keyPrefix+strings.Repeat("2a", KeySize), "key")
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range people {
		b := people[(i+7)%len(people)]
		pseudonyms := []string{key.Player(a), key.Player(b)}
		for _, form := range []string{"A_vs_B", "desync_A", "2026-11-20_A_1", "A2", "A-vs-B", "[A] B", "replay.A.B", "AB"} {
			if first := []rune(b)[0]; form == "AB" && (unicode.IsLower(first) || strings.ContainsAny(a+b, "_ -'")) || form == "A2" && strings.ContainsAny(a, "_ -'") {
				continue // nothing shows where the one name ends
			}
			file := strings.NewReplacer("A", a, "B", b).Replace(form) + ".zip"
			got := key.File(file, pseudonyms)
			for _, name := range []string{a, b} {
				if strings.Contains(form, map[bool]string{true: "A", false: "B"}[name == a]) && strings.Contains(got, name) {
					t.Errorf("%s became %s, which has %s", file, got, name)
				}
			}
			if form == "AB" || form == "A2" {
				continue // one word of a text: a name in it may be part of any other
			}
			text := strings.TrimSuffix(file, ".zip")
			for _, name := range longerFirst(a, b) {
				text = replaceWhole(text, name, "x")
			}
			if strings.Contains(text, a) || strings.Contains(form, "B") && strings.Contains(text, b) {
				t.Errorf("%s became %s", file, text)
			}
		}
	}
}

func longerFirst(a, b string) []string {
	if len(a) < len(b) {
		return []string{b, a}
	}
	return []string{a, b}
}
