package paste

import "bytes"

// body is the lines of a file in a text, without what surrounds it.
type body struct {
	ls     lines // at the line that comes next
	real   *lines
	in     *fence // nil if nothing encloses the lines
	layers []layer
	html   bool // signs are written as entities
	trail  bool // blanks at the ends of lines are taken off

	closed  bool // the end of the block was met
	ahead   bool // a line was read ahead:
	line    []byte
	ok      bool
	after   lines // what follows it
	used    bool
	dropped int // blanks taken off
}

// layers tries a line as the first one of a file, and takes off more and more of the text around it.
func (p *peeler) layers(ls *lines, in *fence, begin func(b *body) (bool, error)) (bool, error) {
	b := &body{ls: *ls, real: ls, in: in}
	line := ls.peek()
	if in.isHTML() || escaped(line) {
		b.html = true
		line = unescape(line)
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return false, nil
	}
	for {
		if len(line) == 0 {
			return false, nil
		}
		b.trail = line[len(line)-1] == ' ' || line[len(line)-1] == '\t'
		if found, err := begin(b); found || err != nil {
			return found, err
		}
		if len(b.layers) == maxLayers {
			return false, nil
		}
		l, rest, ok := peelLayer(line)
		if !ok {
			rest, ok = speaker(line)
			last := len(b.layers) - 1
			if !ok || last < 0 || b.layers[last].kind != stamps || b.layers[last].named {
				return false, nil
			}
			b.layers[last].named = true
			line = rest
			continue
		}
		l.reset()
		b.layers = append(b.layers, l)
		line = rest
	}
}

// reset makes the layer take the line off at which it was found.
func (l *layer) reset() { l.next-- }

// room returns how many bytes a side of the first diff of a text may have, if lines that are the same in both appear in
// the diff so many times.
func (p *peeler) room(b *body, times int) int {
	if p.diffs > 0 {
		return 0
	}
	return (len(b.ls.text) - b.ls.at) / times
}

// clone returns a body that can be read on without b noticing.
func (b *body) clone() *body {
	c := *b
	c.layers = append([]layer(nil), b.layers...)
	return &c
}

// head returns the next n lines at most, in HeadLen bytes.
func (b *body) head(n int) []byte {
	c := b.clone()
	var out []byte
	for range n {
		line, ok := c.next()
		if !ok || len(out)+len(line) >= HeadLen {
			if len(out) == 0 {
				out = append(out, line[:min(len(line), HeadLen)]...)
			}
			break
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

// peek returns the next line without what surrounds it. It is not ok where the body ends.
func (b *body) peek() (line []byte, ok bool) {
	if !b.ahead {
		at := b.ls
		b.line, b.ok = b.read()
		b.after, b.ls, b.ahead = b.ls, at, true
	}
	return b.line, b.ok
}

// next is peek, and goes on to the line after it.
func (b *body) next() (line []byte, ok bool) {
	line, ok = b.peek()
	if b.ahead = false; ok {
		b.ls = b.after
		if b.used {
			*b.real = b.ls
		}
	}
	return line, ok
}

// torn reports whether the text ends without the end of its last line, which was taken: the line may be
// longer.
func (b *body) torn() bool {
	return !(b.ahead && b.ok) && b.ls.ended() && !bytes.HasSuffix(b.ls.text, []byte("\n"))
}

// read reads the next line.
func (b *body) read() (line []byte, ok bool) {
	if b.closed || b.ls.ended() {
		return nil, false
	}
	line = b.ls.peek()
	if b.in != nil {
		if _, closed := b.in.closed(line); closed {
			b.closed = true
			return nil, false
		}
		if rest, ended := b.in.ends(line); ended {
			line, b.closed = rest, true
		}
	}
	if b.html {
		line = unescape(line)
	}
	for i := range b.layers {
		rest, ok := b.layers[i].take(line)
		if !ok {
			b.closed = true
			return nil, false
		}
		line = rest
		if b.layers[i].named {
			line, _ = speaker(line)
		}
	}
	if b.trail {
		short := bytes.TrimRight(line, " \t")
		b.dropped += len(line) - len(short)
		line = short
	}
	b.ls.next()
	return line, true
}

// take has the text read on after the lines that are taken of the body.
func (b *body) take() { b.used = true; *b.real = b.ls }

// say notes the layers that were taken off.
func (b *body) say(p *peeler) {
	for f := b.in; f != nil; f = f.outer {
		p.note("%s taken off", f.kind)
	}
	for i := range b.layers {
		p.note("%s taken off", b.layers[i].words())
	}
	if b.html {
		p.note("HTML entities replaced")
	}
	if b.dropped > 0 {
		p.note("blanks at the ends of lines taken off")
	}
}
