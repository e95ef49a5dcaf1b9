package page

import (
	"fmt"

	"github.com/desynctool/desynctool/report/document"
)

// peer is how a peer looks wherever it is named: a colour and a shape, by its place in the
// session.
type peer struct {
	Name  string
	Class string
	Shape int
}

// Path returns the peer's mark for a picture of 14 by 14 pixels.
func (p peer) Path() string { return shape(p.Shape, 7, 7, 5) }

// colours is the number of colours in the style, c0 to c7.
const colours = 8

// peers are the peers of a session, by name.
type peers map[string]int

func newPeers(r *document.Report) peers {
	out := peers{}
	for i, p := range r.Peers {
		if _, has := out[p.Name]; !has {
			out[p.Name] = i
		}
	}
	return out
}

// of returns the peer of that name. One that the session does not list gets the looks of the
// next.
func (p peers) of(name string) peer {
	i, has := p[name]
	if !has {
		i = len(p)
		p[name] = i
	}
	return peer{name, fmt.Sprintf("c%d", i%colours), i % shapes}
}

func (p peers) all(names []string) []peer {
	out := make([]peer, len(names))
	for i, name := range names {
		out[i] = p.of(name)
	}
	return out
}

// Mark returns the mark on a map, in a picture of 18 by 18 pixels: the first side's mark is a ring around the second
// side's.
func (p peer) Mark(side int) string { return shape(p.Shape, 9, 9, [2]float64{7, 3.5}[side%2]) }
