package merkle

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// FuzzProof changes single values of proofs that are right. No other leaf or sibling leads to the
// root. Index and count are bound by the shape of the path alone: where another has the same shape
// it holds as well.
func FuzzProof(f *testing.F) {
	f.Add(uint8(7), uint8(3), []byte{0, 1, 2})
	f.Add(uint8(5), uint8(4), []byte{1, 0, 9, 3, 1, 1})
	f.Add(uint8(2), uint8(0), []byte{4, 0, 0})
	f.Add(uint8(3), uint8(0), []byte{6, 0, 4})
	f.Add(uint8(0), uint8(0), []byte{0, 0, 9, 1, 0, 9}) // another leaf is another root
	f.Fuzz(func(t *testing.T, leaves, index uint8, script []byte) {
		n := 1 + int(leaves)%70
		list := make([]Leaf, n)
		for i := range list {
			list[i] = Leaf{Label: fmt.Sprintf("%03d", i), Hash: sha256.Sum256([]byte{byte(i), 7})}
		}
		tree, err := New(list)
		if err != nil {
			t.Fatal(err)
		}
		i := int(index) % n
		good := tree.Prove(i)
		if err := good.Verify(); err != nil {
			t.Fatalf("leaf %d of %d: %v", i, n, err)
		}
		p := good
		p.Siblings = slices.Clone(good.Siblings)
		for ; len(script) >= 3; script = script[3:] {
			which, with := int(script[1]), script[2]
			switch s := p.Siblings; script[0] % 8 {
			case 0:
				p.Leaf[which%HashSize] ^= with
			case 1:
				p.Root[which%HashSize] ^= with
			case 2:
				if len(s) > 0 {
					s[which%len(s)][with%HashSize] ^= with
				}
			case 3:
				if len(s) > 0 {
					p.Siblings = slices.Delete(s, which%len(s), which%len(s)+1)
				}
			case 4:
				p.Siblings = slices.Insert(s, which%(len(s)+1), Hash{with})
			case 5:
				p.Index = int(int8(with))
			case 6:
				p.Count = int(with)
			case 7: // a node is shown as a leaf, the levels below it left out
				if len(s) > 0 && i%2 == 0 {
					p.Leaf, p.Siblings, p.Index = nodeHash(&p.Leaf, &s[0]), s[1:], p.Index/2
				}
			}
		}
		same := p.Leaf == good.Leaf && p.Root == good.Root && slices.Equal(p.Siblings, good.Siblings)
		held := p.Verify() == nil
		switch {
		case same && p.Index == good.Index && p.Count == good.Count && !held:
			t.Fatal("the proof holds no more")
		case !same && held && p.Root == good.Root && p.Count == good.Count:
			t.Fatalf("another leaf or way leads to the root: %+v for %+v", p, good)
		case held && p.Root != good.Root && n > 1:
			t.Fatalf("leads to another root: %+v for %+v", p, good)
		}
	})
}
