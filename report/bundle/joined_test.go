package bundle

import (
	"slices"
	"testing"
)

// TestSameNames: names mean the same peer if all words of one are words of the other, and of no third one.
func TestSameNames(t *testing.T) {
	for _, c := range []struct {
		names, others []string
		want          []int
	}{
		{[]string{"anna", "bjorn"}, []string{"anna.zip", "bjorn.zip"}, []int{0, 1}},
		{[]string{"bjorn_game.csv", "anna_game.csv"}, []string{"anna", "bjorn"}, []int{1, 0}},
		{[]string{"Host_SYNC3", "Ann_SYNC1", "Bea_SYNC0"}, []string{"Ann", "Bea", "Host"}, []int{2, 0, 1}},
		{[]string{"holger", "petra"}, []string{"logs_holger_k_2022-07-02.zip", "logs_petra_2022-07-02.zip"}, []int{0, 1}},
		{[]string{"p1", "p2", "p3"}, []string{"p2.zip", "p3.zip"}, []int{-1, 0, 1}},
		{[]string{"peer 1", "peer 2"}, []string{"P1", "P2"}, []int{0, 1}},
		{[]string{"peer 0", "peer 1", "peer 2"}, []string{"1", "2"}, []int{-1, -1, -1}}, // the first may be 1
		{[]string{"peer 0", "peer 1"}, []string{"1", "2"}, []int{-1, -1}},
		{[]string{"anna", "bob"}, []string{"anna", "bob"}, []int{-1, -1}}, // the same names
		{[]string{"anna", "bob"}, []string{"anna_old", "anna_new"}, []int{-1, -1}},
		{[]string{"anna", "anna.gz"}, []string{"anna.zip", "bob.zip"}, []int{-1, -1}}, // two of one name
		{[]string{"server"}, []string{"anna", "bob"}, []int{-1}},
		{[]string{"zoë", "kai"}, []string{"ZOË.tar.gz", "kai.tar.gz"}, []int{0, 1}},
	} {
		if got := sameNames(slices.Repeat(c.names, 200), c.others); slices.Max(got) >= 0 {
			t.Errorf("%d names: %v", len(got), got)
		}
		if got := sameNames(c.names, c.others); !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %v, expected %v", c.names, c.others, got, c.want)
		}
	}
}
