package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestFieldBeforeRNG: a save that omits a field leaves it 0 on one side. Its effects in the same tick hide that in a quarter
// of the values, and draw numbers from the RNG. The first sentence begins with the field, and the lead names it.
func TestFieldBeforeRNG(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "session")
	desynctool(t, 0, nil, "record", "-o", dir, "--seed", "1", "--ticks", "260", "--entities", "1500", "--fault", "save-omits-field/Combat@250:client")
	var stdout, stderr bytes.Buffer
	if status := run([]string{"triage", "--no-cache", dir}, strings.NewReader(""), &stdout, &stderr); status != 1 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	text := strings.Join(strings.Fields(stdout.String()), " ")
	field, rng := strings.Index(text, "in Orders: Weapon.ready is 0 on client for "), strings.Index(text, "; client drew ")
	if field < 0 || rng < field || !strings.Contains(text, "Lead: look at the place that sets Weapon.ready, and at what a save") {
		t.Errorf("%.600s", text)
	}
}
