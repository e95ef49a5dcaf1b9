package notation

import (
	"testing"
)

// TestUnfold: a document of JSON in a text is read as maps and lists, with all its offsets before it, and once only. Other texts
// that begin with a bracket stay texts.
func TestUnfold(t *testing.T) {
	json, ini := jsonNotation(), iniNotation()
	for _, c := range []struct {
		n          Notation
		text, want string
	}{
		{json, `{"bag": "{ \"gold\": 5.0, \"in\": \"{\\\"b\\\":1}\" }"}`, `{@0 "bag": {@0 "gold": number(5.0) "in": text({"b":1}) end@0 end@55 `},
		{json, `{"bag": "[{\"id\": 7}]"}`, `{@0 "bag": [@0 {@0 "id": number(7) end@0 end@0 end@24 `},
		{json, `{"bag": "{}", "at": "[1, 2]", "msg": "{\"a\":1} hi", "two": "{\"a\":1}{\"b\":1}"}`, `{@0 "bag": text({}) "at": text([1, 2]) "msg": text({"a":1} hi) "two": text({"a":1}{"b":1}) end@81 `},
		{ini, "[p]\nbag=\"{ \\\"keys\\\": 2 }\"\nhp=\"41.50\"\nname=\"Al\"\n", `{@0 "p": {@0 "bag": {@0 "keys": number(2) end@0 "hp": bare(41.50) "name": text(Al) end@47 end@47 `},
	} {
		var got calls
		if err := c.n.Parse([]byte(c.text), Unfold(&got)); err != nil || got.String() != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.text, got.String(), err, c.want)
		}
	}
}
