package words

import (
	"strings"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// line names the line of source at which the two builds depart, or why it is not known, if somebody asked.
func line(c *verdict.Conclusion) (list []string) {
	add := func(name string, known bool, lines []string) {
		text := strings.Replace(lines[0], "   ", ": ", 1)
		if why, ok := strings.CutPrefix(text, "not known: "); ok {
			list = append(list, name+" is not known: "+why+".")
		} else if known {
			list = append(list, name+": "+text+".")
		} else {
			list = append(list, name+" is not known: "+text+".")
		}
	}
	plain := document.NewStyle(false)
	if c.Code != nil {
		add("The line", c.Code.Known(), c.Code.Lines(plain))
	}
	if c.Writes != nil {
		add("The write", c.Writes.Known(), c.Writes.Lines(plain))
	}
	return list
}
