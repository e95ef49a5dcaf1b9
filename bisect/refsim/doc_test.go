package refsim

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocs checks that docs/refsim.md has the archetypes and orders as they are, and names each fault.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/refsim.md")
	if err != nil {
		t.Fatal(err)
	}
	if list := archetypeList(t); !strings.Contains(strings.ReplaceAll(string(doc), "\n", " "), list) {
		t.Errorf("docs/refsim.md does not contain\n%s", list)
	}
	if table := orderTable(); !strings.Contains(string(doc), table) {
		t.Errorf("docs/refsim.md does not contain\n%s", table)
	}
	for _, k := range Faults() {
		if !strings.Contains(string(doc), "`"+k.Name+"`") {
			t.Errorf("docs/refsim.md does not name %s", k.Name)
		}
	}
}

// archetypeList has the archetypes with their numbers.
func archetypeList(t *testing.T) string {
	var list []string
	for a, table := range newTestSim(t, Config{Entities: MinEntities}).tables {
		list = append(list, fmt.Sprintf("%d %s", a, table.label))
	}
	return strings.Join(list, ", ")
}

func orderTable() string {
	var b strings.Builder
	b.WriteString("| Kind | Name | Payload |\n|---|---|---|\n")
	payloads := [numOrderKinds]string{
		"[unit id, x, y]", "[unit id, target id]", "[unit id]", "[building id, archetype]",
		"[building id, x, y]", "[squad, x, y]", "[text]",
	}
	for i, k := range orderKinds {
		name := k.name
		if k.local {
			name += " (local)"
		}
		fmt.Fprintf(&b, "| %d | %s | `%s` |\n", i, name, payloads[i])
	}
	return b.String()
}
