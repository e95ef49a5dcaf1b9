package snapshot

import (
	"fmt"
	"math"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

func (f *File) decodeHeader(b []byte) error {
	c, err := newCursor(b)
	if err != nil {
		return err
	}
	info := &f.info
	c.array("header", headerFields)
	info.Seed = c.unsigned("seed", maxU64)
	info.Point.Tick = c.unsigned("tick", maxU64)
	info.Point.Phase = c.text("phase")
	info.Point = info.Point.Named(c.text("native name"))
	if err := info.Point.check(); err != nil {
		c.fail("%w", err)
	}
	info.Peer = c.text("peer")
	info.Epoch = uint32(c.unsigned("epoch", maxU32))
	info.RNG = c.bytes("RNG state", maxRNG)
	if h := c.bytes("history hash", merkle.HashSize); c.err == nil && h != nil {
		if len(h) != merkle.HashSize {
			c.fail("history hash has %d bytes, expected %d", len(h), merkle.HashSize)
		} else {
			copy(info.History[:], h)
		}
	}
	info.Root = c.hash("root")
	c.meta(info)
	n := c.length("tables")
	if limits.Archetypes.Over(int64(n)) {
		c.fail("%w", limits.Archetypes.Reached(f.name, int64(n)))
	}
	for i := 0; i < n && c.err == nil; i++ {
		var t TableInfo
		var place indexPlace
		c.array("table", tableFields)
		t.Class = Class(c.unsigned("class", uint64(len(classNames)-1)))
		t.Label = c.text("label")
		t.Rows = c.unsigned("row count", math.MaxInt64)
		if limits.Rows.Over(int64(t.Rows)) {
			c.fail("%w", limits.Rows.Reached(f.name, int64(t.Rows)))
		}
		t.Parts = int(c.unsigned("key parts", 2))
		t.Hash = c.hash("leaf hash")
		place.offset = c.unsigned("index offset", uint64(f.size))
		place.length = uint32(c.unsigned("index length", uint64(limits.Cell.Max())))
		if c.err == nil {
			c.err = f.checkTable(&t, place)
		}
		info.Tables = append(info.Tables, t)
		f.places = append(f.places, place)
	}
	if c.err != nil {
		return c.err
	}
	if root := merkle.Root(info.Leaves()); root != info.Root {
		return fmt.Errorf("root %s does not follow from the leaves, which give %s", info.Root, root)
	}
	return nil
}

func (c *cursor) meta(info *Info) {
	if c.err != nil {
		return
	}
	n, err := c.DecodeMapLen()
	switch {
	case err != nil:
		c.fail("properties: %v", err)
		return
	case limits.Properties.Over(int64(n)):
		c.fail("%w", limits.Properties.Reached("", int64(n)))
		return
	case n > 0:
		info.Meta = make(map[string]string, n)
	}
	last := ""
	for i := 0; i < n && c.err == nil; i++ {
		k := c.text("property name")
		v, err := c.DecodeString()
		if err != nil {
			c.fail("property %q: %v", k, err)
		}
		if i > 0 && k <= last {
			c.fail("property %q does not follow %q", k, last)
		}
		info.Meta[k] = v
		last = k
	}
}

// checkTable checks t, the next table of the header, and the position of its index.
func (f *File) checkTable(t *TableInfo, place indexPlace) error {
	if err := checkName(t.Label); err != nil {
		return fmt.Errorf("label: %w", err)
	}
	if t.Parts == 0 {
		return fmt.Errorf("%s %q: keys of 0 parts", t.Class, t.Label)
	}
	if n := len(f.info.Tables); n > 0 {
		prev := &f.info.Tables[n-1]
		if prev.Class > t.Class || prev.Class == t.Class && prev.Label >= t.Label {
			return fmt.Errorf("%s %q does not follow %s %q", t.Class, t.Label, prev.Class, prev.Label)
		}
	}
	if end := place.offset + uint64(place.length) + uint64(len(endMarker)); place.length < 4 || end > uint64(f.size) {
		return fmt.Errorf("%s %q: index of %d bytes at %d in a file of %d", t.Class, t.Label, place.length, place.offset, f.size)
	}
	return nil
}
