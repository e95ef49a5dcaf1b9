package tracediff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"

	"pgregory.net/rapid"
)

// orders returns all orders of n things.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, list := range orders(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(list), i, n-1))
		}
	}
	return out
}

// groupTexts lists the groups of a comparison by name, in a fixed order.
func groupTexts(res *Result) []string {
	var out []string
	for _, g := range res.Groups {
		var groups []string
		for _, group := range g.Groups {
			var names []string
			for _, i := range group {
				names = append(names, res.Traces[i].Name)
			}
			slices.Sort(names)
			groups = append(groups, strings.Join(names, "="))
		}
		slices.Sort(groups)
		out = append(out, fmt.Sprintf("%s:%s", g.Tick, strings.Join(groups, " ")))
	}
	return out
}

// comparePeers compares traces that are called a, b, … in some order.
func comparePeers(t testing.TB, opened []*Trace, order []int) *Result {
	t.Helper()
	var list []*Trace
	for _, i := range order {
		list = append(list, opened[i])
	}
	res, err := Compare(list, Options{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// peerText is the trace of two systems from one tick to before another, each
// strideth, the values of B wrong from tick bad on.
func peerText(from, to, stride, bad int, systems string) string {
	var b strings.Builder
	for tick := from; tick < to; tick += stride {
		for _, system := range systems {
			sum := tick
			if system == 'B' && tick >= bad {
				sum += 1000 + bad
			}
			fmt.Fprintf(&b, "tick=%d system=%c sum=%08x\n", tick, system, sum)
		}
	}
	return b.String()
}

func TestGroups(t *testing.T) {
	const never = 1 << 20
	for name, c := range map[string]struct {
		peers []string
		want  []string
	}{
		"one has ended": {
			[]string{peerText(0, 20, 1, never, "AB"), peerText(0, 60, 1, 30, "AB"), peerText(0, 60, 1, never, "AB")},
			[]string{"30:b c"},
		},
		"one has not begun": {
			[]string{peerText(0, 60, 1, 30, "AB"), peerText(40, 60, 1, never, "AB"), peerText(0, 60, 1, never, "AB")},
			[]string{"30:a c", "40:a b=c"},
		},
		"one is sparse": {
			[]string{peerText(0, 60, 20, never, "AB"), peerText(0, 60, 1, 30, "AB"), peerText(0, 60, 1, never, "AB")},
			[]string{"30:b c", "40:a=c b", "41:b c"},
		},
		"one does not trace the system": {
			[]string{peerText(0, 60, 1, never, "A"), peerText(0, 60, 1, 30, "AB"), peerText(0, 60, 1, never, "AB")},
			[]string{"30:b c"},
		},
		"one does not trace the system, two agree": {
			[]string{peerText(0, 60, 1, never, "A"), peerText(0, 60, 1, 30, "AB"), peerText(0, 60, 1, never, "AB"), peerText(0, 60, 1, never, "AB")},
			[]string{"30:b c=d"},
		},
		"staggered": {
			[]string{peerText(0, 40, 1, 30, "AB"), peerText(10, 50, 1, never, "AB"), peerText(20, 60, 1, never, "AB"), peerText(20, 60, 1, 45, "AB")},
			[]string{"30:a b=c=d", "40:b=c=d", "45:b=c d", "50:c d"},
		},
		"one lacks it": {
			[]string{strings.Replace(peerText(0, 60, 1, never, "AB"), "tick=30 system=B sum=0000001e\n", "", 1), peerText(0, 60, 1, never, "AB"), peerText(0, 60, 1, never, "AB")},
			[]string{"30:a b=c", "31:a=b=c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var opened []*Trace
			for i, text := range c.peers {
				opened = append(opened, open(t, string(rune('a'+i))+".txt", []byte(text))...)
			}
			for _, order := range orders(len(opened)) {
				res := comparePeers(t, opened, order)
				if got := groupTexts(res); !slices.Equal(got, c.want) {
					t.Errorf("order %v: groups %v, expected %v", order, got, c.want)
				}
			}
		})
	}
}

// TestGroupsOracle compares the groups of random peers with what follows from
// their values taken two by two: no two of a group differ, any two of different
// groups do, and who is left out could agree with two that differ.
func TestGroupsOracle(t *testing.T) {
	effort.Checks(t, 40)
	rapid.Check(t, func(rt *rapid.T) {
		const ticks = 60
		type at struct {
			tick   int
			system rune
		}
		n := rapid.IntRange(2, 5).Draw(rt, "peers")
		var opened []*Trace
		values := make([]map[at]int, n)
		for i := range n {
			first := rapid.IntRange(0, 30).Draw(rt, "first")
			stride := rapid.SampledFrom([]int{1, 1, 1, 2, 5}).Draw(rt, "stride")
			systems := rapid.SampledFrom([]string{"ABC", "ABC", "AB", "BC", "C"}).Draw(rt, "systems")
			length := rapid.IntRange(1, ticks).Draw(rt, "length")
			values[i] = map[at]int{}
			wrong := map[rune]int{}
			var text bytes.Buffer
			for tick := first; tick < first+length; tick += stride {
				if rapid.IntRange(0, 15).Draw(rt, "change") == 0 {
					wrong[rapid.SampledFrom([]rune("ABC")).Draw(rt, "where")] = rapid.IntRange(0, 2).Draw(rt, "to")
				}
				for _, system := range systems {
					v := tick<<8 | wrong[system]
					values[i][at{tick, system}] = v
					fmt.Fprintf(&text, "tick=%d system=%c sum=%08x\n", tick, system, v)
				}
			}
			opened = append(opened, open(t, string(rune('a'+i))+".txt", text.Bytes())...)
		}
		differ := func(i, j, tick int) bool {
			return slices.ContainsFunc([]rune("ABC"), func(system rune) bool {
				x, ok := values[i][at{tick, system}]
				y, both := values[j][at{tick, system}]
				return ok && both && x != y
			})
		}
		has := func(i, tick int) bool {
			return slices.ContainsFunc([]rune("ABC"), func(system rune) bool { _, ok := values[i][at{tick, system}]; return ok })
		}
		names := orders(n)
		order := names[rapid.IntRange(0, len(names)-1).Draw(rt, "order")]
		res := comparePeers(t, opened, order)
		if want := groupTexts(comparePeers(t, opened, names[0])); !slices.Equal(groupTexts(res), want) {
			rt.Fatalf("order %v: %v, expected %v", order, groupTexts(res), want)
		}
		if res.Missing > 0 {
			rt.Skip("by what is missing peers differ too")
		}
		now := -1
		for tick := range 2 * ticks {
			var in []int
			for i := range n {
				if has(i, tick) {
					in = append(in, i)
				}
			}
			if len(in) < 2 {
				continue
			}
			parted := slices.ContainsFunc(in, func(i int) bool {
				return slices.ContainsFunc(in, func(j int) bool { return differ(i, j, tick) })
			})
			for now+1 < len(res.Groups) && res.Groups[now+1].Tick.Number <= uint64(tick) {
				now++
			}
			if now < 0 {
				if parted {
					rt.Fatalf("tick %d: no groups", tick)
				}
				continue
			}
			group := map[int]int{}
			for g, members := range res.Groups[now].Groups {
				for _, i := range members {
					group[order[i]] = g + 1
				}
			}
			for _, i := range in {
				torn := false // i could agree with two that differ
				for _, j := range in {
					if group[i] > 0 && group[j] > 0 && differ(i, j, tick) == (group[i] == group[j]) {
						rt.Fatalf("tick %d: peers %d and %d in groups %v", tick, i, j, group)
					}
					for _, k := range in {
						torn = torn || !differ(i, j, tick) && !differ(i, k, tick) && differ(j, k, tick)
					}
				}
				if torn == (group[i] > 0) {
					rt.Fatalf("tick %d: peer %d in groups %v", tick, i, group)
				}
			}
			if len(group) > len(in) {
				rt.Fatalf("tick %d has peers %v, groups %v", tick, in, group)
			}
		}
	})
}
