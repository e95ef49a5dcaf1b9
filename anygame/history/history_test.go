package history_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/history"
	"github.com/desynctool/desynctool/notation"
)

// sum returns a checksum of a tick.
func sum(tick int, salt string) uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d%s", tick, salt))
}

// each returns a text for each of some ticks, with commas between them. The verbs are the tick and its checksum.
func each(n int, format string) string { return eachOf(n, "", format) }

func eachOf(n int, salt, format string) string {
	var out []string
	for tick := range n {
		out = append(out, fmt.Sprintf(format, tick, sum(tick, salt)))
	}
	return strings.Join(out, ",")
}

func learn(t *testing.T, name, text string) *history.History {
	t.Helper()
	n := notation.Of(name, []byte(text), true)
	if n == nil {
		t.Fatalf("no notation: %.80s", text)
	}
	return history.Learn(n, []byte(text))
}

// read returns the checkpoints of a peer in a few words: their number, the first and the last.
func read(t *testing.T, h *history.History, text string, peer int) string {
	t.Helper()
	source, err := h.Format().Read(strings.NewReader(text), "a", peer)
	if err != nil {
		return err.Error()
	}
	var all []string
	for {
		r, err := source.Next()
		if err != nil {
			if n := len(all); n > 0 {
				all = []string{fmt.Sprint(n), all[0], all[n-1]}
			}
			if err != io.EOF {
				all = append(all, "torn")
			}
			return strings.Join(all, "; ")
		}
		line := source.Dialect().TickName(r.Checkpoint.Tick)
		for _, s := range r.Checkpoint.Sums {
			line += fmt.Sprintf(" %s=%s", strings.Trim(r.Checkpoint.Scope+"."+s.Name, "."), s.Value)
		}
		all = append(all, fmt.Sprintf("%s %s", r.Pos, line))
	}
}

func TestRead(t *testing.T) {
	zero, nine := sum(0, ""), sum(9, "")
	decimal := fmt.Sprintf("10; line 1 tick 0 =%d; line 1 tick 9 =%d", zero, nine)
	hexadecimal := fmt.Sprintf("10; line 1 tick 0 =0x%08x; line 1 tick 9 =0x%08x", zero, nine)
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "{" + each(10, `"%d":"%08x"`) + "}", hexadecimal},
		{"a.json", "{" + each(10, `"%d":"0x%08X"`) + "}", hexadecimal},
		{"a.json", `{"player":"ann","seed":5,"checksums":{` + each(10, `"%d":%d`) + `}}`, decimal},
		{"a.json", `{"hashes":[` + each(10, `%[2]d`) + `]}`, decimal},
		{"a.json", `[` + each(10, `"%08[2]x"`) + `]`, hexadecimal},
		{"a.json", `[` + each(10, `[%d,%d]`) + `]`, decimal},
		{"a.json", `[` + each(10, `{"tick":%d,"ok":true,"hash":%d}`) + `]`, decimal},
		{"a.json", `{` + each(10, `"frame_%d":%d`) + `}`, strings.ReplaceAll(decimal, "tick", "frame")},
		{"a.xml", `<log>` + strings.ReplaceAll(each(10, `<turn n="%d" hash="%08x"/>`), ",", "") + `</log>`, strings.ReplaceAll(hexadecimal, "tick", "turn")},
		{"a.xml", `<log>` + strings.ReplaceAll(each(10, `<turn n="%d"><hash>%08x</hash></turn>`), ",", "") + `</log>`, strings.ReplaceAll(hexadecimal, "tick", "turn")},
		{"a.xml", `<table><tr><th>turn</th><th>hash</th></tr>` + strings.ReplaceAll(each(10, `<tr><td>%d</td><td>%08x</td></tr>`), ",", "") + `</table>`, strings.ReplaceAll(hexadecimal, "tick", "turn")},
		{"a.yaml", "checksums:\n  " + strings.ReplaceAll(each(10, `%d: 0x%08x`), ",", "\n  ") + "\n", strings.Replace(strings.Replace(decimal, "line 1", "line 2", 1), "line 1", "line 11", 1)},
		{"a.lua", "return {" + each(10, `[%d] = "%08x"`) + "}", hexadecimal},
		{"a.json", `{"10":"5f3a91c7","0":"00ab34ff","5":"9ab3c1d2","15":"77e01f3b","20":"5d1c22aa","30":"f4dbdf21","25":"83dcefb7","35":"1ad5be0d"}`, "8; line 1 tick 0 =0x00ab34ff; line 1 tick 35 =0x1ad5be0d"},
		{"a.json", `{"checksums":{"7":17,"19":4011,"112":3}}`, "3; line 1 tick 7 =17; line 1 tick 112 =3"},
		{"a.json", `{` + each(10, `"%d":{"ai":%[2]d,"physics":"%08[2]x"}`) + `}`, fmt.Sprintf("10; line 1 tick 0 ai=%d physics=0x%08[1]x; line 1 tick 9 ai=%d physics=0x%08[2]x", zero, nine)},
		{"a.json", `{"ai":{` + each(10, `"%d":%d`) + `},"physics":{` + eachOf(10, "x", `"%d":%d`) + `}}`, fmt.Sprintf("20; line 1 tick 0 ai=%d; line 1 tick 9 physics=%d", zero, sum(9, "x"))},
		{"a.json", `{"hashes":[null,` + each(10, `%[2]d`) + `]}`, fmt.Sprintf("10; line 1 tick 1 =%d; line 1 tick 10 =%d", zero, nine)},
		{"a.json", `{"checksums":{` + each(10, `"%d":%d`) + `,"10":987`, decimal + "; torn"},
		{"a.json", `[` + each(10, `[%d,%d]`) + `,[10`, decimal + "; torn"},
		{"a.yaml", "match: 5\nchecksums:\n  " + strings.ReplaceAll(each(10, `%d: 0x%08x`), ",", "\n  ") + "\n  10: 0x5d1c22", fmt.Sprintf("10; line 3 tick 0 =%d; line 12 tick 9 =%d", zero, nine)},

		{"a.json", `{}`, ""},
		{"a.json", `[` + each(7, `%[2]d`) + `]`, ""},                                       // too few
		{"a.json", `{` + each(10, `"%[1]d":12345678`) + `}`, ""},                           // the same
		{"a.json", `{` + each(10, `"%[1]d":17030000%[1]d`) + `}`, ""},                      // times
		{"a.json", `{` + each(10, `"%[1]d":{"x":%[1]d,"hp":9}`) + `}`, ""},                 // entities
		{"a.json", `{"mt":[` + each(624, `%[2]d`) + `,624]}`, ""},                          // a generator
		{"a.json", `[3,[` + each(624, `%[2]d`) + `],null]`, ""},                            // another
		{"a.json", `{"tick":9,"gold":5,"hashes":[` + each(10, `%[2]d`) + `]}`, ""},         // a state
		{"a.json", `{"units":[{"id":1,"hp":5}],"hashes":[` + each(10, `%[2]d`) + `]}`, ""}, // another
		{"a.json", `[` + each(10, `{"tick":%[1]d,"hash":%[2]d,"units":%[1]d}`) + `]`, ""},  // with values
		{"a.json", `[` + each(10, `[%d,%d]`) + `,[3,5]]`, ""},                              // a tick comes again
		{"a.json", `{"7":"5f3a91c7","100":"00ab34ff","103":"9ab3c1d2","991":"77e01f3b","992":"5d1c22aa","1400":"f4dbdf21","1402":"83dcefb7","9000":"1ad5be0d"}`, ""}, // ids
	} {
		h := learn(t, c.name, c.text)
		got := ""
		if h != nil {
			got = read(t, h, c.text, 0)
		}
		if got != c.want {
			t.Errorf("%.100s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestPeers(t *testing.T) {
	rows := func(salt string) string {
		return "[" + each(5, `{"tick":%d,"host":%[2]d,"client":%[2]d},`) + eachOf(10, salt, `{"tick":1%d,"host":%d,"client":1%[2]d}`) + "]"
	}
	text := strings.ReplaceAll(rows("x"), ",,", ",")
	h := learn(t, "a.json", text)
	if h == nil || h.Format().Peers == nil {
		t.Fatal("no peers")
	}
	peers, _ := h.Format().Peers(nil, "")
	want := fmt.Sprintf("15; line 1 tick 0 =%d; line 1 tick 19 =1%d", sum(0, ""), sum(9, "x"))
	if got := read(t, h, text, 1); strings.Join(peers, " ") != "host client" || got != want {
		t.Errorf("%v\n got %s\nwant %s", peers, got, want)
	}
	parts := `{"p1":{` + each(10, `"%d":%d`) + `},"p2":{` + eachOf(10, "y", `"%d":%d`) + `}}` // of what players own
	if h := learn(t, "a.json", parts); h == nil || h.Format().Peers != nil {
		t.Error("parts of the state are peers")
	}
}

func TestOther(t *testing.T) {
	list := func(salt string, from, n int, rest string) *history.History {
		return learn(t, "a.json", `{`+rest+`"hashes":[`+strings.Join(strings.Split(eachOf(from+n, salt, `%[2]d`), ",")[from:], ",")+`]}`)
	}
	first := list("", 0, 20, `"gold":5,"port":7777,`)
	for _, c := range []struct {
		other          *history.History
		shifted, agree bool
		unlike         string
	}{
		{list("", 0, 20, `"gold":5,"port":7778,`), false, true, ""},
		{list("", 0, 12, `"gold":6,"map":3,`), false, true, "gold"},
		{list("", 3, 17, ""), true, false, ""},
		{list("x", 0, 20, ""), true, false, ""},
		{learn(t, "a.json", "{"+eachOf(20, "x", `"%d":%d`)+"}"), false, false, ""},
	} {
		if s, a, u := first.Shifted(c.other), first.Agrees(c.other), strings.Join(first.Unlike(c.other), " "); s != c.shifted || a != c.agree || u != c.unlike {
			t.Errorf("got %v %v %q, want %v %v %q", s, a, u, c.shifted, c.agree, c.unlike)
		}
	}
	first.Forget()
	if got := read(t, first, "[1]", 0); got != "" {
		t.Errorf("forgotten: %s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{" + each(10, `"%d":%d`) + "}"))
	f.Add([]byte(`<log><turn n="0" hash="1"/><x/><turn n="1"`))
	f.Add([]byte(`<table><tr><th>turn</th><th>crc</th></tr><tr><td>1</td><td>5f3a91c7</td></tr><tr><td>2`))
	f.Add([]byte("hashes:\n- 1\n- {a: 5}\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		for _, n := range notation.All() {
			if h := history.Learn(&n, text); h != nil {
				source, err := h.Format().Read(bytes.NewReader(text), "a", 0)
				for err == nil {
					_, err = source.Next()
				}
			}
		}
	})
}
