package notation

import (
	"fmt"
	"strings"
	"testing"
)

// TestWide reads a table with a column for each peer and value as a row for each peer. Tables of two players, whose values differ,
// or of one value, or with a column that one peer lacks, are read as they are.
func TestWide(t *testing.T) {
	table := func(header string, row func(tick int) string) string {
		var out strings.Builder
		out.WriteString(header + "\n")
		for tick := range 9 {
			out.WriteString(row(tick) + "\n")
		}
		return out.String()
	}
	for _, c := range []struct {
		header string
		row    func(tick int) string
		wide   bool
	}{
		{"turn,Host mana,Client1 mana,Host hp,Client1 hp,Ping Host,Ping Client1,notes", func(n int) string {
			return fmt.Sprintf("%d,%d,%d,%d,%d,%d,%d,lag", n, 20+n, 20+n, 90-n, 90-n, n, 31-2*n)
		}, true},
		{"tick;server_gold;server_wood;client_gold;client_wood", func(n int) string { return fmt.Sprintf("%d;%d;7;%d;7", n, 5*n, 5*n) }, true},
		{"tick,player1_x,player1_hp,player2_x,player2_hp", func(n int) string { return fmt.Sprintf("%d,%d,90,%d,90", n, 20+n, 40-n) }, false},
		{"tick,player1_x,player1_hp,player2_x,player2_hp", func(n int) string { return fmt.Sprintf("%d,5,90,5,90", n) }, false},
		{"tick,host_sum,client_sum", func(n int) string { return fmt.Sprintf("%d,%d,%d", n, 77*n, 77*n) }, false},
		{"tick,host_x,client_x,host_y,client_y,host_z", func(n int) string { return fmt.Sprintf("%d,%d,%d,1,1,2", n, n, n) }, false},
		{"tick,pos_x,pos_y,vel_x,vel_y", func(n int) string { return fmt.Sprintf("%d,%d,%d,2,2", n, n, n) }, false},
	} {
		text := table(c.header, c.row)
		n := csvNotation()
		got := scalarsOf(t, &n, text)
		if IsWide([]byte(text)) != c.wide || strings.Contains(got, "peer=") != c.wide {
			t.Errorf("%s:\n%.300s", c.header, got)
		}
	}
	n := csvNotation()
	got := scalarsOf(t, &n, table("turn,Host mana,Guest mana,Host hp,Guest hp,why", func(n int) string { return fmt.Sprintf("%d,%d,%d,9,%d,y", n, 2*n, 2*n, 9-n/8) }))
	if want := "document\nturn=8\nmana=16\nhp=9\nwhy=y\npeer=Host\ndocument\nturn=8\nmana=16\nhp=8\nwhy=y\npeer=Guest\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, expected at its end %s", got, want)
	}
}
