package merkle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// naiveRoot is the definition, recursively and by level: the oracle.
func naiveRoot(level [][]byte) []byte {
	if len(level) == 0 {
		h := sha256.Sum256(nil)
		return h[:]
	}
	if len(level) == 1 {
		return level[0]
	}
	var up [][]byte
	for len(level) >= 2 {
		h := sha256.Sum256(slices.Concat(level[0], level[1]))
		up = append(up, h[:])
		level = level[2:]
	}
	return naiveRoot(append(up, level...))
}

func leavesOf(n int, salt byte) []Leaf {
	leaves := make([]Leaf, n)
	for i := range leaves {
		leaves[i] = Leaf{fmt.Sprintf("L%03d", i), sha256.Sum256([]byte{byte(i), byte(i >> 8), salt})}
	}
	if n > 0 {
		leaves[0].Label = ""
	}
	return leaves
}

func build(t testing.TB, leaves []Leaf) *Tree {
	t.Helper()
	tree, err := New(leaves)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestRootAgainstDefinition(t *testing.T) {
	for n := range 130 {
		leaves := leavesOf(n, 0)
		var raw [][]byte
		for _, l := range leaves {
			raw = append(raw, l.Hash[:])
		}
		want := naiveRoot(raw)
		tree := build(t, leaves)
		got, kept := Root(leaves), tree.Root()
		if !bytes.Equal(got[:], want) || !bytes.Equal(kept[:], want) {
			t.Errorf("%d leaves: root %s and %s, definition %x", n, got, kept, want)
		}
		if n > 0 && len(tree.levels) != depth(n)+1 {
			t.Errorf("%d leaves: %d levels, depth is %d", n, len(tree.levels), depth(n))
		}
	}
}

// TestLeafPreimages rebuilds the leaves' preimages by hand and checks that none
// can have the length of an interior node's.
func TestLeafPreimages(t *testing.T) {
	le32 := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
	for labelLen := 1; labelLen < 70; labelLen++ {
		for columns := range 4 {
			label := bytes.Repeat([]byte("x"), labelLen)
			pad := make([]byte, (8-labelLen%8)%8)
			var digests []Hash
			pre := slices.Concat([]byte{2}, le32(labelLen), le32(columns), []byte{7, 0, 0, 0, 0, 0, 0, 0}, label, pad)
			for c := range columns {
				digests = append(digests, Hash{byte(c)})
				pre = append(pre, digests[c][:]...)
			}
			if len(pre) == 64 {
				t.Errorf("preimage of label %d, %d columns has 64 bytes", labelLen, columns)
			}
			if got := ArchetypeLeaf(string(label), 7, digests); got != sha256.Sum256(pre) {
				t.Errorf("leaf of label %d, %d columns: %s", labelLen, columns, got)
			}
		}
	}
	state := []byte("0123456789")
	pre := slices.Concat([]byte{1}, le32(10), le32(0), state, make([]byte, 6))
	if got := RNGLeaf(state); got != sha256.Sum256(pre) {
		t.Errorf("RNG leaf: %s", got)
	}
}

func TestNewRefusesUnorderedLabels(t *testing.T) {
	for _, labels := range [][]string{{"b", "a"}, {"a", "a"}, {"a", ""}} {
		if _, err := New([]Leaf{{Label: labels[0]}, {Label: labels[1]}}); err == nil {
			t.Errorf("labels %q accepted", labels)
		}
	}
}

// TestCompareFindsAllLeaves changes any set of leaves and expects exactly that
// set, at two hashes for each diverged node with two children.
func TestCompareFindsAllLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "n")
		changed := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID).Draw(t, "changed")
		slices.Sort(changed)
		leaves := leavesOf(n, 0)
		a, _ := New(leaves)
		other := slices.Clone(leaves)
		var want []string
		for _, i := range changed {
			other[i].Hash[31] ^= 1
			want = append(want, leaves[i].Label)
		}
		b, _ := New(other)
		hashes := 0
		for level, nodes := 1, (n+1)/2; level <= depth(n); level, nodes = level+1, (nodes+1)/2 {
			below := len(a.levels[level-1])
			for i := range nodes {
				if 2*i+1 < below && a.levels[level][i] != b.levels[level][i] {
					hashes += 2
				}
			}
		}
		got := Compare(a, b)
		if !slices.Equal(got.Diverged, want) || got.Hashes != hashes || got.Bytes != 32*hashes || got.Equal() != (len(want) == 0) {
			t.Fatalf("got %+v, want %q by %d hashes", got, want, hashes)
		}
	})
}

func TestCompareOneOf32(t *testing.T) {
	leaves := leavesOf(32, 0)
	a := build(t, leaves)
	leaves = slices.Clone(leaves)
	leaves[17].Hash[0] ^= 0x80
	b := build(t, leaves)
	got := Compare(a, b)
	if got.Hashes != 10 || got.Bytes != 320 || !slices.Equal(got.Diverged, []string{"L017"}) {
		t.Errorf("full: %+v", got)
	}
}

func TestCompareByLabel(t *testing.T) {
	h := func(s string) Hash { return sha256.Sum256([]byte(s)) }
	a := build(t, []Leaf{{"", h("rng")}, {"A", h("1")}, {"C", h("3")}, {"D", h("4")}})
	b := build(t, []Leaf{{"A", h("1")}, {"B", h("2")}, {"C", h("33")}, {"D", h("4")}})
	got := Compare(a, b)
	if !slices.Equal(got.OnlyA, []string{""}) || !slices.Equal(got.OnlyB, []string{"B"}) || !slices.Equal(got.Diverged, []string{"C"}) {
		t.Errorf("%+v", got)
	}
}

func TestProofs(t *testing.T) {
	for n := 1; n < 70; n++ {
		tree := build(t, leavesOf(n, 0))
		for i := range n {
			p := tree.Prove(i)
			if err := p.Verify(); err != nil {
				t.Fatalf("leaf %d of %d: %v", i, n, err)
			}
			wrong := []func(p *Proof){
				func(p *Proof) { p.Leaf[3] ^= 1 },
				func(p *Proof) { p.Root[3] ^= 1 },
				func(p *Proof) { p.Siblings = append(p.Siblings, Hash{}) },
				func(p *Proof) { p.Index = n },
				func(p *Proof) { p.Index = -1 },
				func(p *Proof) { p.Count = 0 },
			}
			if n > 1 {
				wrong = append(wrong,
					func(p *Proof) { p.Siblings[0][31] ^= 0x10 },
					func(p *Proof) { p.Siblings = p.Siblings[1:] },
					func(p *Proof) { p.Index ^= 1 })
			}
			for k, spoil := range wrong {
				q := p
				q.Siblings = slices.Clone(p.Siblings)
				spoil(&q)
				if err := q.Verify(); err == nil {
					t.Errorf("leaf %d of %d: spoiled proof %d accepted", i, n, k)
				}
			}
		}
	}
}

// vectors is the content of testdata/merkle/trees.json.
type vectors struct {
	Comment string       `json:"comment"`
	RNG     []leafVector `json:"rng_leaves"`
	Leaves  []leafVector `json:"archetype_leaves"`
	Trees   []treeVector `json:"trees"`
}

type leafVector struct {
	State   string `json:"state,omitempty"`
	Label   string `json:"label,omitempty"`
	Rows    uint64 `json:"rows,omitempty"`
	Digests []Hash `json:"digests,omitempty"`
	Leaf    Hash   `json:"leaf"`
}

type treeVector struct {
	Leaves []Hash  `json:"leaves"`
	Root   Hash    `json:"root"`
	Sync   Short   `json:"sync"`
	Uint64 string  `json:"sync_u64"`
	Proofs []Proof `json:"proofs"`
}

// TestVectors checks the code against the published vectors. They were made by
// it once, and by then the definition above had agreed with it.
func TestVectors(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "merkle", "trees.json")
	v := vectors{Comment: "Merkle vectors; docs/merkle.md defines them. state is hex (absent: empty), rows is 0 if absent, digests are the keys digest and then each column digest, all hashes are hex."}
	for _, state := range []string{"", "01", "0123456789abcdef", "00112233445566778899"} {
		raw := make([]byte, len(state)/2)
		fmt.Sscanf(state, "%x", &raw)
		v.RNG = append(v.RNG, leafVector{State: state, Leaf: RNGLeaf(raw)})
	}
	for i, label := range []string{"A", "Infantry", "CITY.supplied", "Überläufer"} {
		columns := make([]Hash, i+1)
		for c := range columns {
			columns[c] = sha256.Sum256([]byte{byte(i), byte(c)})
		}
		v.Leaves = append(v.Leaves, leafVector{Label: label, Rows: uint64(i * 1000), Digests: columns, Leaf: ArchetypeLeaf(label, uint64(i*1000), columns)})
	}
	for _, n := range []int{0, 1, 2, 3, 5, 8, 32} {
		tree := build(t, leavesOf(n, 1))
		tv := treeVector{Leaves: []Hash{}, Root: tree.Root(), Sync: tree.SyncHash(), Uint64: fmt.Sprint(tree.SyncHash().Uint64()), Proofs: []Proof{}}
		for i := range n {
			tv.Leaves = append(tv.Leaves, tree.Leaf(i))
		}
		for i := 0; i < n; i += 3 {
			p := tree.Prove(i)
			p.Tick = uint64(100 * n)
			tv.Proofs = append(tv.Proofs, p)
		}
		v.Trees = append(v.Trees, tv)
	}
	got, err := json.MarshalIndent(&v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	pinned.File(t, path, got)
}

func TestHashText(t *testing.T) {
	h := sha256.Sum256([]byte("x"))
	s := Hash(h).String()
	back, err := ParseHash(s)
	if err != nil || back != Hash(h) {
		t.Errorf("ParseHash(%s) = %s, %v", s, back, err)
	}
	if short := Hash(h).Short(); short.String() != s[:16] || short.Uint64() != binary.LittleEndian.Uint64(h[:8]) {
		t.Errorf("short %s %d of %s", short, short.Uint64(), s)
	}
	for _, bad := range []string{"", s[1:], s[:63] + "g"} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("ParseHash(%q) accepted", bad)
		}
	}
}

func TestHistory(t *testing.T) {
	start := Hash(sha256.Sum256([]byte("start")))
	h0 := StartHistory(start)
	if want := Hash(sha256.Sum256(start[:])); h0 != want {
		t.Errorf("h0 = %s, want %s", h0, want)
	}
	sync := Short{1, 2, 3, 4, 5, 6, 7, 8}
	if got, want := NextHistory(h0, sync), Hash(sha256.Sum256(slices.Concat(h0[:], sync[:]))); got != want {
		t.Errorf("h1 = %s, want %s", got, want)
	}
}

func ExampleCompare() {
	host, _ := New([]Leaf{{"", RNGLeaf([]byte{1})}, {"Infantry", Hash{2}}, {"Tanks", Hash{3}}})
	client, _ := New([]Leaf{{"", RNGLeaf([]byte{1})}, {"Infantry", Hash{9}}, {"Tanks", Hash{3}}})
	c := Compare(host, client)
	fmt.Println(c.Diverged, c.Hashes, "hashes")
	// Output: [Infantry] 4 hashes
}

// depth returns the number of levels below the root in a tree with n leaves: ⌈log₂ n⌉.
func depth(n int) int {
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}
