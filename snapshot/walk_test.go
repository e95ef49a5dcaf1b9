package snapshot

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// labelled returns a state of tables with these labels, and one value in each.
func labelled(t *testing.T, value uint64, labels ...string) State {
	t.Helper()
	w := &World{}
	for _, label := range labels {
		c := NewColumn("Health", "hp", U64, 0)
		c.AppendUint(value)
		if label == "Infantry" {
			c = NewColumn("Health", "hp", U64, 0)
			c.AppendUint(40)
		}
		w.Tables = append(w.Tables, Table{Label: label, Keys: Keys{A: []uint64{8}}, Columns: []Column{c}})
	}
	s, err := Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDescend: the steps have the hashes of the trees that were descended: the trees over the leaves that both states
// have.
func TestDescend(t *testing.T) {
	a, b := labelled(t, 1, "Aircraft", "Infantry", "Mine"), labelled(t, 2, "Infantry", "Mine", "Tank")
	w, err := Descend(a, b, false)
	if err != nil {
		t.Fatal(err)
	}
	c := &w.Comparison
	if !w.Diverged() || w.Incomplete() || strings.Join(c.Diverged, " ") != "Mine" || strings.Join(c.OnlyA, " ") != "Aircraft" || strings.Join(c.OnlyB, " ") != "Tank" {
		t.Errorf("%+v", c)
	}
	leaf := func(s State, label string) merkle.Hash {
		for _, l := range s.Info().Leaves() {
			if l.Label == label {
				return l.Hash
			}
		}
		t.Fatalf("no %s", label)
		return merkle.Hash{}
	}
	if len(w.Steps) != 1 || w.Steps[0].Left || !w.Steps[0].Right ||
		w.Steps[0].LeftHash != [2]merkle.Hash{leaf(a, "Infantry"), leaf(b, "Infantry")} || w.Steps[0].RightHash != [2]merkle.Hash{leaf(a, "Mine"), leaf(b, "Mine")} {
		t.Errorf("steps %+v", w.Steps)
	}
	if same, err := Descend(a, a, false); err != nil || same.Diverged() || len(same.Steps) > 0 {
		t.Errorf("a state and itself: %+v, %v", same, err)
	}
	w.Lost = []string{"client"}
	if !w.Incomplete() {
		t.Error("something is lost, and the walk is complete")
	}
}

// TestProof proves each archetype, and tries the proof with other roots and states.
func TestProof(t *testing.T) {
	a, b := labelled(t, 1, "Infantry", "Mine", "RNG"), labelled(t, 2, "Infantry", "Mine", "Tank")
	for _, label := range []string{"Infantry", "Mine", "RNG"} {
		p, err := Prove(a, label)
		if err != nil || p.Label != label {
			t.Fatalf("%s: %+v, %v", label, p, err)
		}
		root := b.Info().Root
		for what, c := range map[string]struct {
			want Expected
			err  string
		}{
			"itself":     {Expected{}, ""},
			"its state":  {Expected{State: a}, ""},
			"other root": {Expected{Root: &root}, "root is "},
		} {
			v, err := VerifyProof(&p.Proof, "proof.json", c.want)
			if err != nil || (v.Err == nil) != (c.err == "") || v.Err != nil && !strings.HasPrefix(v.Err.Error(), c.err) {
				t.Errorf("%s, %s: %v, %v", label, what, v.Err, err)
			}
		}
		v, err := VerifyProof(&p.Proof, "proof.json", Expected{State: b})
		if same := label == "Infantry"; err != nil || (v.Err == nil) != same || (Verification{v}).Diverged() == same {
			t.Errorf("%s, another state: %v, %v", label, v.Err, err)
		}
	}
	if _, err := Prove(b, "RNG"); err == nil || err.Error() != "the state has no RNG" {
		t.Errorf("no RNG: %v", err)
	}
	if _, err := Prove(b, "Ship"); err == nil || err.Error() != `no archetype "Ship"; there are Infantry, Mine, Tank` {
		t.Errorf("no such archetype: %v", err)
	}
}
