package page

import "github.com/desynctool/desynctool/internal/prose"

// strip is a picture of lanes above each other along an axis of ticks. It takes the width
// that there is: places are in percent of it, heights in pixels.
type strip struct {
	picture
	Labels []stripLabel
	LabelW float64 // of the widest label, in em
	Height int
	Bands  []bar // over the whole height
	Rows   [][]bar
	Marks  []glyph
	Flags  []flag
	Axis   []axisTick
	AxisY  int
	Lines  []int // heights of lines between lanes
}

// picture is what all pictures have.
type picture struct {
	ID   string
	Name string // for who cannot see it
}

// stripLabel names a lane.
type stripLabel struct {
	Y     int
	Text  string
	Class string
}

// bar is a rectangle.
type bar struct {
	X, W  string // X in percent, W with its unit if it is not pixels
	Y, H  int
	Class string
	Tip   string
}

// glyph is a mark of a peer's shape or an event's.
type glyph struct {
	X     string
	Y     int
	Path  string
	Class string
	Tip   string
}

// flag is a line over the whole height with its name on top.
type flag struct {
	X, Text, Anchor string
	Y, H            int
	Class           string
	Tip             string
}

// labelWidth is how many characters of a label fit.
const labelWidth = 22

func (s *strip) label(y int, text, class string) {
	text = prose.Shorten(text, labelWidth)
	s.LabelW = max(s.LabelW, 0.6*float64(prose.Columns(text))+1)
	s.Labels = append(s.Labels, stripLabel{y, text, class})
}
