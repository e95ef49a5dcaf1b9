package paste

import "bytes"

// sampled is how many lines show what comes before all lines of a text.
const sampled = 200

// common takes off what nearly all lines of a text begin with, prose included: the quoting of a mail, the
// time stamps of a chat. It is nil where there is no such thing.
func (p *peeler) common(text []byte) []byte {
	count := map[layerKind]int{}
	lowest, width, seen, spoken := 0, 0, 0, 0
	for ls := (&lines{text: text}); !ls.ended() && seen < sampled; {
		line := ls.next()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		seen++
		if l, rest, ok := peelLayer(line); ok {
			count[l.kind]++
			if _, ok = speaker(rest); ok {
				spoken++
			}
			if l.kind == quoting && (lowest == 0 || l.depth < lowest) {
				lowest = l.depth
			}
			if l.kind == indent && (width == 0 || l.width < width) {
				width = l.width
			}
		}
	}
	for _, kind := range []layerKind{quoting, stamps, numbers, indent} {
		if count[kind] < 2 || count[kind]*10 < seen*9 {
			continue
		}
		l := layer{kind: kind, depth: lowest, width: width, named: 4*spoken >= seen}
		if kind == stamps && !l.named {
			p.note("time stamps taken off")
		} else {
			p.note("%s taken off", l.words())
		}
		return takeAll(text, l)
	}
	return nil
}

// takeAll returns a text without a layer.
func takeAll(text []byte, l layer) []byte {
	out := make([]byte, 0, len(text))
	for ls := (&lines{text: text}); !ls.ended(); {
		line := ls.next()
		switch l.kind {
		case quoting:
			_, line = quotes(line, l.depth)
		case stamps:
			if rest, ok := stamp(line); ok {
				if line = rest; l.named {
					line, _ = speaker(rest)
				}
			}
		case numbers:
			if _, _, rest, ok := numbered(line); ok {
				line = rest
			}
		case indent:
			line, _ = l.take(line)
		}
		out = append(append(out, line...), '\n')
	}
	return out
}
