package tracediff

import (
	"bytes"
	"io"

	"github.com/desynctool/desynctool/internal/file/files"
)

// skipSources moves engines' files of the same format past their common bytes at the start, except for the tick in
// which these end.
func (c *comparer) skipSources() error {
	var skippers []Skipper
	var others []Source
	for _, p := range c.peers {
		s, skips := p.r.source.(Skipper)
		if _, leads := p.r.source.(Straight); !skips && !leads || p.trace.Format.Name != c.peers[0].trace.Format.Name ||
			p.trace.Packing != "" || p.trace.Column != c.peers[0].trace.Column {
			return nil
		}
		skippers = append(skippers, s)
		others = append(others, p.r.source)
	}
	if first, leads := others[0].(Straight); leads {
		if !first.Lead(others[1:]) {
			return nil
		}
		return c.together(first)
	}
	same, err := c.sharedPrefix()
	if err != nil || same < c.sizes.head {
		return err
	}
	for _, p := range c.peers {
		if err := c.peek(p); err != nil {
			return err
		}
		if p.rec == nil {
			return nil
		}
		p.consume()
		p.cadence.see(p.last)
	}
	for i, p := range c.peers {
		last, passed, err := skippers[i].Skip(same)
		if err != nil {
			return err
		}
		if passed {
			p.last.Number = last
			p.info.Last = p.last
			p.cadence.see(p.last)
		}
		c.compared |= 1 << p.n
		c.prev, c.hasPrev = p.last, passed
	}
	if c.hasPrev {
		c.result.LastCompared = c.prev
		c.partings.meets(c.prev, there(c.peers))
	}
	return nil
}

// together compares the common beginning of traces, which the first source reads for all.
func (c *comparer) together(lead Straight) error {
	first := c.peers[0]
	for {
		switch err := c.peek(first); {
		case err != nil:
			return err
		case !lead.Leading():
			return nil
		case first.rec == nil: // its common beginning is damaged
			return ErrBack
		}
		for _, p := range c.peers[1:] {
			p.rec, p.at = first.rec, first.at
		}
		if err := c.enter(first.at); err != nil {
			return err
		}
		c.inOrder()
	}
}

// sharedPrefix returns how many bytes at the start are equal in all files.
func (c *comparer) sharedPrefix() (int64, error) {
	opened := make([]files.File, len(c.peers))
	defer func() {
		for _, f := range opened {
			if f != nil {
				f.Close()
			}
		}
	}()
	buffers := make([][]byte, len(opened))
	for i, p := range c.peers {
		f, err := p.trace.tree.Open(p.trace.File)
		if err != nil {
			return 0, err
		}
		opened[i], buffers[i] = f, make([]byte, 256<<10)
	}
	total := int64(0)
	for {
		n, ended := len(buffers[0]), false
		for i, f := range opened {
			got, err := io.ReadFull(f, buffers[i][:n])
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				ended = true
			} else if err != nil {
				return 0, err
			}
			n = min(n, got)
		}
		same := n
		for _, b := range buffers[1:] {
			if !bytes.Equal(buffers[0][:same], b[:same]) {
				same = equalPrefix(buffers[0][:same], b[:same])
			}
		}
		total += int64(same)
		if same < n || ended {
			return total, nil
		}
	}
}
