package document

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// TestEscapeBytes: a report of strings that are not UTF-8 is the same once it was saved and read.
func TestEscapeBytes(t *testing.T) {
	r := NoReport(Inconclusive, "a\xffb\ufffd\x80")
	r.Peers = []TriagedPeer{{Name: "\xfe"}, {Name: "é"}}
	r.Locus = []LocusField{{Raw: map[string]string{"\xfe": "\xc3", "é": "1"}}}
	r.Match = &MatchDocument{Name: "m\xe9"}
	r.EscapeBytes()
	if r.Error != `a\xffb`+"\ufffd"+`\x80` || r.Peers[0].Name != `\xfe` || r.Peers[1].Name != "é" || r.Match.Name != `m\xe9` ||
		!reflect.DeepEqual(r.Locus[0].Raw, map[string]string{`\xfe`: `\xc3`, "é": "1"}) {
		t.Errorf("%+v", r)
	}
	var saved bytes.Buffer
	if err := json.NewEncoder(&saved).Encode(r); err != nil {
		t.Fatal(err)
	}
	again, err := ReadReport(&saved, "saved")
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%+v\nread again\n%+v, %v", r, again, err)
	}
}
