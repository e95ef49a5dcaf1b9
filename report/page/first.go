package page

import (
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// firstView shows the details of the first checkpoint that differs.
type firstView struct {
	Title, About string
	Start, From  int // the numbers of the first line, and of the first that differs
	Same         []document.DetailDocument
	Peers        []firstPeer
}

type firstPeer struct {
	Who  peer
	Rest []document.DetailDocument
}

// newFirst returns nil if there are no details.
func newFirst(r *document.Report, peers peers) *firstView {
	d := r.FirstDetails()
	if d == nil {
		return nil
	}
	v := &firstView{Title: d.Title(), About: d.About(), Start: 1, Same: d.Same}
	if d.Kind == tracediff.Stack { // line 0 names what it belongs to
		v.Start = 0
	}
	v.From = v.Start + len(d.Same)
	v.Peers = lists.Map(d.Peers, func(p document.PeerDetails) firstPeer { return firstPeer{peers.of(p.Peer), p.Rest} })
	return v
}
