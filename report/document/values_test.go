package document

import (
	"runtime"
	"strings"
	"testing"
)

// TestBoundValues: a small text of very many values takes no memory in proportion to them.
func TestBoundValues(t *testing.T) {
	for name, text := range map[string]string{
		"objects": `{"schema":"desynctool.triage/1","locus":[` + strings.Repeat("{},", 8<<20) + `{}]}`,
		"nulls":   `{"schema":"desynctool.triage/1","locus":[` + strings.Repeat("null,", 8<<20) + `null]}`,
		"reports": `[` + strings.Repeat(`{"schema":"desynctool.triage/1"},`, 1<<20) + `{}]`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var err error
		if name == "reports" {
			_, err = ReadReports(strings.NewReader(text), name)
		} else {
			_, err = ReadReport(strings.NewReader(text), name)
		}
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != name+": a report has at most 2097152 values" {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 512<<20 { // io.ReadAll takes several times the text
			t.Errorf("%s: %d MiB were taken", name, took>>20)
		}
	}
	const quoted = `{"schema":"desynctool.triage/1","error":"` // what is quoted is one value
	r, err := ReadReport(strings.NewReader(quoted+strings.Repeat(`{[,\"\\`, 1<<20)+`"}`), "quoted")
	if err != nil || len(r.Error) != 5<<20 {
		t.Errorf("quoted: %v", err)
	}
}

// TestCountEntities: a game's own word has a plural, and the name of a list is one.
func TestCountEntities(t *testing.T) {
	for want, of := range map[string]struct {
		kind string
		n    uint64
	}{
		"3 units": {"unit", 3}, "1 unit": {"unit", 1}, "2 cities": {"city", 2}, "2 keys": {"key", 2},
		"3 entities of units": {"units", 3}, "1 entity of Infantry": {"Infantry", 1},
	} {
		if got := CountEntities(of.kind, of.n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
