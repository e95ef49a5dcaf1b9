package widelands

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumentation: the page has the tables that the readers use.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../docs/formats/widelands.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	expect := func(row string) {
		if !strings.Contains(page, row+"\n") {
			t.Errorf("docs/formats/widelands.md lacks the row\n%s", row)
		}
	}
	for k := Desync; int(k) < len(layouts); k++ {
		expect(entryRow(&layouts[k]))
	}
	for id := range commands {
		if c := &commands[id]; c.player {
			expect(commandRow(id, c))
		} else if c.name != "" && c.name != "ProposeTrade" {
			if want := fmt.Sprintf("%d %s", id, c.name); !strings.Contains(page, want) {
				t.Errorf("docs/formats/widelands.md lacks %s", want)
			}
		}
	}
	for id, name := range objects {
		if want := fmt.Sprintf("%d %s", id, name); !strings.Contains(page, want) {
			t.Errorf("docs/formats/widelands.md lacks %s", want)
		}
	}
}

func number(width uint8, signed bool) string {
	if signed {
		return fmt.Sprintf("s%d", width)
	}
	return fmt.Sprintf("u%d", width)
}

func entryRow(l *layout) string {
	var fields []string
	for _, f := range l.fields {
		fields = append(fields, number(f.bits, f.signed)+" "+f.name)
	}
	tag := "none"
	if l.tag != 0 {
		tag = fmt.Sprintf("%02X", l.tag)
	}
	return fmt.Sprintf("| %s | %s | %s |", tag, l.name, strings.Join(fields, ", "))
}

func commandRow(id int, c *command) string {
	var params []string
	for _, p := range c.params {
		s := number(8*p.width, p.signed) + " " + p.name
		if p.count > 0 {
			s = number(8*p.count, false) + " n, n × " + s
		}
		params = append(params, s)
	}
	return fmt.Sprintf("| %d | %s | %s |", id, c.name, strings.Join(params, ", "))
}

// Shifts and lengths of the table follow from its numbers of bits.
func TestLayouts(t *testing.T) {
	seen := map[string]bool{}
	for k := Desync; int(k) < len(layouts); k++ {
		l := &layouts[k]
		bits := uint8(0)
		for _, f := range l.fields {
			if f.shift != bits {
				t.Errorf("%s: %s is shifted by %d, expected %d", l.name, f.name, f.shift, bits)
			}
			bits += f.bits
		}
		if bits != 8*l.length || l.tag != 0 && l.tag&0xf != l.length || seen[l.name] {
			t.Errorf("%s: tag %02x, %d bytes, fields of %d bits", l.name, l.tag, l.length, bits)
		}
		seen[l.name] = true
	}
}
