//go:build unix

package desk_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/desk"
	"github.com/desynctool/desynctool/report/desk/desktest"
)

// TestKept: a bundle has the blob that was said, be it called by the hash of the bundle, otherwise, or none, and lists of a state
// have it.
func TestKept(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		own, other := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
		var id int64
		for _, kept := range []string{own, other, "", own} {
			err := s.Write(t.Context(), func(tx *desk.Tx) error {
				if id == 0 {
					b, _, err := tx.Receive(t.Context(), desk.Bundle{Hash: own, Name: "a.zip", Bytes: 2, Kept: kept, KeptBytes: 1}, desk.Receipt{Name: "a.zip", Source: "test"})
					id = b.ID
					return err
				}
				return tx.SetKept(t.Context(), id, kept, 1)
			})
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Bundle(t.Context(), own)
			if err != nil || b.Kept != kept {
				t.Errorf("kept %q, expected %q, %v", b.Kept, kept, err)
			}
			for _, state := range []desk.State{"", desk.Waiting, desk.Read, desk.Aside} {
				want := 0
				if state == "" || state == desk.Waiting {
					want = 1
				}
				if list, err := s.Bundles(t.Context(), state, 0, 10); err != nil || len(list) != want || want == 1 && list[0].Kept != kept {
					t.Errorf("state %q: %+v, %v", state, list, err)
				}
			}
		}
	})
}
