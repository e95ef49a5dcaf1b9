package bundle

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// maxSplit is how large a log may be that is split by its messages. People paste short ones.
const maxSplit = 4 << 20

// byClaims splits a file that names no match by its messages about desyncs. A message begins another match if the
// lines before it name another match or seed, or if its tick is far from the ticks of the earlier messages: before all of
// them, or after text was left out and with other peers accused.
func (m *Matches) byClaims(u *unit, one part) []part {
	claims := m.claims(u)
	if len(claims) < 2 || one.id != "" || one.seed != nil || one.spans != nil {
		return []part{one}
	}
	content, err := tracediff.OpenContent(m.whole.tree, u.path)
	if err != nil {
		return []part{one}
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, maxSplit+1))
	if err != nil || len(text) > maxSplit {
		return []part{one}
	}
	claims = slices.Clone(claims)
	lists.SortStable(claims, func(a, b tracediff.Claim) int { return int(a.Pos.Offset - b.Pos.Offset) })
	first, list, names := 0, []part(nil), headings{}
	begin := func(claim int, at int64) {
		p := one
		p.said, p.line = claims[claim:claim:len(claims)], 1+int64(bytes.Count(text[:at], []byte("\n")))
		p.spans = []archive.Span{{From: at, To: math.MaxInt64}}
		if len(list) > 0 {
			list[len(list)-1].spans[0].To = at
		}
		list = append(list, p)
		first = claim
	}
	end := int64(0) // of the last message's first line
	for i := range claims {
		c := &claims[i]
		at := min(c.Pos.Offset, int64(len(text)))
		if at < end {
			continue // another message about the same line
		}
		begins, other, left := between(text[end:at], c, names)
		if i == 0 {
			begin(0, 0)
		} else if earlier := claims[first:i]; other || c.HasTick && !c.SelfTest && farFrom(c, earlier, left) {
			begin(i, end+begins)
		}
		list[len(list)-1].said = append(list[len(list)-1].said, *c)
		if end = at + int64(bytes.IndexByte(text[at:], '\n')) + 1; end <= at {
			end = int64(len(text))
		}
	}
	if len(list) < 2 {
		return []part{one}
	}
	return list
}

// farFrom reports whether a message is of another match than earlier ones: its tick is far before their ticks, or text
// was left out before it, it accuses others, and its tick is before theirs or far after them.
func farFrom(c *tracediff.Claim, earlier []tracediff.Claim, left bool) bool {
	least, most, known := uint64(math.MaxUint64), uint64(0), false
	for i := range earlier {
		if earlier[i].HasTick && !earlier[i].SelfTest { // which runs over the same ticks again and again
			least, most, known = min(least, earlier[i].Tick), max(most, earlier[i].Tick), true
		}
	}
	switch {
	case !known:
		return false
	case c.Tick < least:
		return least-c.Tick > least/4 || left && othersThan(c, earlier)
	}
	return left && c.Tick > most && c.Tick-most > most/4 && othersThan(c, earlier)
}

// othersThan reports whether a message and earlier ones accuse peers, and not one in common.
func othersThan(c *tracediff.Claim, earlier []tracediff.Claim) bool {
	accused := map[string]bool{}
	for i := range earlier {
		for _, name := range accusedBy(&earlier[i]) {
			accused[name] = true
		}
	}
	names := accusedBy(c)
	return len(accused) > 0 && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return accused[name] })
}

// accusedBy returns the peers that a message accuses, else those whose checksums it states besides the writer's.
func accusedBy(c *tracediff.Claim) []string {
	if len(c.Peers) > 0 {
		return c.Peers
	}
	var names []string
	for _, v := range c.Values {
		if v.Peer != "" && v.Peer != c.By && !tracediff.IsSide(v.Peer) {
			names = append(names, v.Peer)
		}
	}
	return names
}

// headings are the names of matches and the seeds in a text so far, by the word for them.
type headings map[string]string

// heading is a line that names a match or its seed.
var heading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^a-z])(seed|(?:(?:game|match|session|replay)[ _-]?(?:id|no\.?|number|#)?))\s*[:=#]?\s*"?([0-9][0-9a-f]*(?:-[0-9a-f]+)*)`)
})

// maxHeading is how long such a line is at most. It has no other number: lines of a log have a tick or a time.
const maxHeading = 80

// between looks at the lines before a message: where the lines begin that belong to it, whether they name another match
// than earlier lines, and whether something was left out.
func between(text []byte, c *tracediff.Claim, names headings) (begins int64, other, left bool) {
	tick := strconv.FormatUint(c.Tick, 10)
	at, found := 0, false
	for line := range bytes.Lines(text) {
		bare := bytes.TrimSpace(line)
		if len(bare) == 0 || partial.Elided(bare) {
			left, begins, found = true, int64(at+len(line)), false
		}
		if len(bare) <= maxHeading && !bytes.ContainsAny(heading().ReplaceAll(bare, nil), "0123456789") {
			for _, m := range heading().FindAllSubmatch(bare, -1) {
				word, value := string(bytes.ToLower(m[1][:4])), string(m[2])
				if before, known := names[word]; known && before != value {
					if !other {
						begins, found = int64(at), true
					}
					other = true
				}
				names[word] = value
			}
		}
		if !found && c.HasTick && bytes.Contains(bare, []byte(tick)) {
			begins, found = int64(at), true
		}
		at += len(line)
	}
	if begins == 0 && !found {
		begins = int64(len(text))
	}
	return begins, other, left
}

// ofClaims makes matches of the parts into which messages split files. Parts of two files, and a part and a whole file,
// are of one match if they have a message in common.
func (m *Matches) ofClaims(units []*unit) {
	var made []*Match
	for _, whole := range []bool{false, true} {
		for _, u := range units {
			said := u.said
			if u.match != nil || whole != (said == nil) {
				continue
			}
			if said == nil && len(made) > 0 {
				said = m.claims(u)
			}
			if len(said) == 0 {
				continue
			}
			i := slices.IndexFunc(made, func(x *Match) bool {
				return x.Game == u.game && slices.ContainsFunc(x.units, func(v *unit) bool { return v.path != u.path && share(v.said, said) })
			})
			switch {
			case i >= 0:
				made[i].join(u)
			case !whole:
				made = append(made, m.add(u))
			}
		}
	}
}
