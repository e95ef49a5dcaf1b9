package verdict

import (
	"fmt"
	"path"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Found takes the place in the code at which the two builds depart: by their branches, and by their writes. Either is nil
// if nobody asked. A line that is known is the finest level of the fingerprint.
func (c *Conclusion) Found(code *document.CodeDocument, writes *document.WritesDocument) {
	c.Code, c.Writes = code, writes
	place := c.line()
	if place == nil || place.Function == "" || place.File == "" || len(c.Levels) == 0 {
		return
	}
	name := fmt.Sprintf("%s %s:%d", place.Function, path.Base(strings.ReplaceAll(place.File, `\`, "/")), place.Line)
	c.level(document.LevelCode, name, []string{c.Session.Game, string(c.Kind), name})
}

// line returns the place at which the builds depart, nil if it is not known. A branch that follows from values that differ
// is not the place.
func (c *Conclusion) line() *document.PlaceDocument {
	if c.Code.Known() && !c.Code.Consequence {
		return &c.Code.At[0]
	}
	if c.Writes.Known() {
		for _, build := range c.Writes.Builds[1:] {
			if build.First != nil {
				return &build.First.PlaceDocument
			}
		}
	}
	return nil
}
