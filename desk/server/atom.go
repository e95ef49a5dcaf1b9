package server

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"net/http"
	"time"

	"github.com/desynctool/desynctool/desk"
)

// feedPath is the feed of groups that are new or came back.
const feedPath = "/groups.atom"

// maxEntries is the number of entries in a feed.
const maxEntries = 50

// atomFeed is a feed (RFC 4287).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID       string       `xml:"id"`
	Title    string       `xml:"title"`
	Updated  string       `xml:"updated"`
	Link     atomLink     `xml:"link"`
	Category atomCategory `xml:"category"`
	Summary  string       `xml:"summary"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

// feed is GET /groups.atom.
func (d *Door) feed(w http.ResponseWriter, r *http.Request) {
	news, err := d.Store.News(r.Context(), maxEntries)
	var identity string
	if err == nil {
		identity, err = d.identity()
	}
	if err != nil {
		d.broken(w, r, err)
		return
	}
	out, err := xml.MarshalIndent(feedOf(news, identity, d.base(r)), "", "  ")
	if err != nil {
		d.broken(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	_, _ = w.Write(append([]byte(xml.Header), append(out, '\n')...))
}

// feedOf makes a feed from news, newest first. Ids are derived from the identity of the desk and the number of the
// news. Times come from the store.
func feedOf(news []desk.News, identity, base string) *atomFeed {
	f := &atomFeed{
		ID: nameUUID(identity, "groups"), Title: "New groups of desyncs", Author: desk.Tool, Updated: atomTime(time.Unix(0, 0)),
		Links: []atomLink{{"self", base + feedPath}, {"alternate", base + "/"}},
	}
	for i, n := range news {
		if i == 0 {
			f.Updated = atomTime(n.At)
		}
		f.Entries = append(f.Entries, atomEntry{
			ID: nameUUID(identity, fmt.Sprintf("news %d", n.ID)), Title: newsTitle(n), Updated: atomTime(n.At),
			Link: atomLink{"alternate", base + "/groups/" + n.Group}, Category: atomCategory{n.What}, Summary: newsSummary(n),
		})
	}
	return f
}

func newsTitle(n desk.News) string {
	if n.What == desk.GroupBack {
		return "Came back: " + label(n.Title)
	}
	return "New: " + label(n.Title)
}

func newsSummary(n desk.News) string {
	text := "Group " + n.Group
	if n.Game != "" {
		text += " of " + label(n.Game)
	}
	if n.Build != "" {
		text += ", seen in build " + label(n.Build)
	}
	return text + "."
}

func atomTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// nameUUID makes a version 8 UUID (RFC 9562, section 5.8) from a name.
func nameUUID(identity, name string) string {
	h := sha256.Sum256([]byte(identity + "\x00" + name))
	b := h[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
