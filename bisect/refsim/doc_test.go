package refsim

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocs checks that docs/refsim.md has the tables of archetypes, orders and
// faults as they are.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/refsim.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{archetypeTable(t), orderTable(), faultTable()} {
		if !strings.Contains(string(doc), table) {
			t.Errorf("docs/refsim.md does not contain\n%s", table)
		}
	}
}

// archetypeTable has a row for each set of components.
func archetypeTable(t *testing.T) string {
	var rows []string
	archetypes := map[string][]string{}
	for a, table := range newTestSim(t, Config{Entities: MinEntities}).tables {
		row := strings.Join(components(table), ", ")
		if archetypes[row] == nil {
			rows = append(rows, row)
		}
		archetypes[row] = append(archetypes[row], fmt.Sprintf("%d %s", a, table.label))
	}
	var b strings.Builder
	b.WriteString("| Archetypes | Components |\n|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(archetypes[row], ", "), row)
	}
	return b.String()
}

func components(t *table) []string {
	var names []string
	for i := range t.fields {
		if i == 0 || t.fields[i].Component != t.fields[i-1].Component {
			names = append(names, t.fields[i].Component)
		}
	}
	return names
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

// faultTable has the looks of each fault. record --help has the mechanisms.
func faultTable() string {
	var b strings.Builder
	b.WriteString("| Fault | Looks like |\n|---|---|\n")
	for _, k := range Faults() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Name, k.Looks)
	}
	return b.String()
}
