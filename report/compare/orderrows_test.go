package compare_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
)

// TestOrderRows: a report names the peers on which an order differs, whichever peer has it and whichever log is the base of
// the comparison. What comes after the end of a log is not missing in it.
func TestOrderRows(t *testing.T) {
	for _, peer := range []string{"host", "client", "client2"} {
		for fault, how := range map[string]string{
			"order-dropped": "missing on " + peer, "order-late": "in another tick on ", "order-duplicated": "twice on " + peer, "order-altered": "with other content on ",
		} {
			dir := filepath.Join(t.TempDir(), "s")
			f, err := session.ParseFault(fault + "@50:" + peer)
			if err != nil {
				t.Fatal(err)
			}
			o := session.Options{Config: refsim.Config{Seed: 7, Entities: 120}, Ticks: 90, SnapshotEvery: 40, Peers: session.PeerNames(3), Faults: []session.Fault{f}}
			if _, err := session.RecordTo(dir, o, session.TraceNone); err != nil {
				t.Fatal(err)
			}
			rows, first := orderRows(t, dir)
			if len(rows) == 0 || slices.ContainsFunc(rows, func(r string) bool { return !strings.HasPrefix(r, how) }) {
				t.Errorf("%s on %s: %q", fault, peer, rows)
			}
			path := filepath.Join(dir, peer, bundle.LogName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for n := len(b); fault == "order-dropped"; n -= 20 {
				if err := os.WriteFile(path, b[:n], 0o666); err != nil {
					t.Fatal(err)
				}
				if log, _ := orderlog.ReadFile(path); len(log.Epochs) > 0 && log.Epochs[0].Ticks[len(log.Epochs[0].Ticks)-1].Number < first {
					break
				}
			}
			if fault != "order-dropped" {
				continue
			}
			if rows, _ := orderRows(t, dir); len(rows) > 0 {
				t.Errorf("%s has a log until tick %d only: %q", peer, first, rows)
			}
		}
	}
}

// orderRows returns how the orders in a report differ, and the tick of the first one.
func orderRows(t *testing.T, dir string) (rows []string, first uint64) {
	t.Helper()
	r := judged(t, compare.Builds{}, dir)
	for i := range r.Orders {
		if o := &r.Orders[i]; o.Difference != "" {
			if len(rows) == 0 {
				first = o.Tick
			}
			rows = append(rows, o.Differs())
			if slices.ContainsFunc(o.On, func(name string) bool { return slices.Contains(o.Peers, name) && o.Difference != orderlog.Duplicated }) {
				t.Errorf("%s, and in the logs of %q", o.Differs(), o.Peers)
			}
		}
	}
	return rows, first
}
