package orderlog_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"slices"
	"testing"

	. "github.com/desynctool/desynctool/orderlog"
)

const rejoinVector = "../testdata/orderlog/rejoin"

// TestRejoinVector holds the log with join, gap, load and resync against its text, byte by
// byte, and its history hashes against the definition: an epoch adopts the history of the
// state that was loaded, which includes that point, and goes on with the next.
func TestRejoinVector(t *testing.T) {
	text, err := os.ReadFile(rejoinVector + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(rejoinVector + ".bin")
	if err != nil {
		t.Fatal(err)
	}
	if got := encodeText(t, string(text)); !bytes.Equal(got, want) {
		t.Errorf("the text is written as\n%x, expected\n%x", got, want)
	}
	log, err := ReadAll(bytes.NewReader(want), "rejoin.bin")
	if err != nil {
		t.Fatal(err)
	}
	var opened []MarkerKind
	histories := 0
	for i := range log.Epochs {
		e := &log.Epochs[i]
		opening := e.Opening
		if opening == nil {
			t.Fatalf("epoch %d: no marker opens it", e.Number)
		}
		opened = append(opened, opening.Kind)
		self := uint32(slices.Index(log.Header.Peers, log.Header.Peer))
		h := [32]byte(opening.History)
		for point := opening.Point; ; point++ {
			sync := e.Hash(point, self, SyncHash, "")
			if sync == nil {
				break
			}
			if point > opening.Point {
				h = sha256.Sum256(append(h[:], sync...))
			}
			if noted := e.Hash(point, self, HistoryHash, ""); noted != nil {
				histories++
				if !bytes.Equal(noted, h[:]) {
					t.Errorf("epoch %d, point %d: history %x, by the definition %x", e.Number, point, noted, h)
				}
			}
		}
	}
	if !slices.Equal(opened, []MarkerKind{Join, Load, Resync}) || histories < 2*len(opened)-1 {
		t.Errorf("epochs are opened by %v, with %d history hashes in them", opened, histories)
	}
}
