package page

// picture is what all pictures have.
type picture struct {
	ID   string
	Name string // for who cannot see it
}

// lane is a row of a picture of time: its name, and a drawing at the whole axis that is units wide and stretched to the
// available width. The script redraws it from the data next to it where the axis shows less.
type lane struct {
	Label  string
	Class  string   // of the label
	Who    string   // the peer
	Colour string   // of the drawing, a class
	Folded []string // names of the rows that it combines, nil if there is one

	Kind   string // points, orders, span, events or heat
	Height int
	Paths  []path
	Marks  []glyph

	At            string // ticks, as distances
	Offset, Bin   string // of the first bin, in ticks from the begin of the axis, and how many it has
	Counts, Cells string
	Tip           string
}

// path is a part of a drawing.
type path struct{ Class, D string }

// glyph is a mark of an event, X in percent.
type glyph struct {
	X    string
	Y    int
	Path string
	At   uint64 // ticks from the begin of the axis
	Tip  string
}
