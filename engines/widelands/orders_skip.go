package widelands

// place is where a stream can continue, as long as its bytes are in memory.
type place struct {
	offset   int64
	entry    Entry
	next     int64
	supplies uint32
	launches bool
	last     Kind
}

func (s *Stream) place() place {
	return place{s.base + int64(s.pos), s.entry, s.next, s.supplies, s.launches, s.last}
}

func (s *Stream) back(p place) {
	s.pos = int(p.offset - s.base)
	s.entry, s.next, s.supplies, s.launches, s.last = p.entry, p.next, p.supplies, p.launches, p.last
}

// Skip skips the entries of all clock times that end before a byte offset: the RunQueue that raises the clock after
// them ends at the offset or before. It returns the last such time, and false if it skipped nothing. It stops early at
// a time with more than 256 KiB of entries, and where Next would fail.
func (s *Stream) Skip(offset int64) (clock uint32, passed bool) {
	if s.err != nil {
		return 0, false
	}
	from := s.place()
	s.keep = s.pos
	for s.base+int64(s.pos) < offset {
		if s.end-s.pos < longest && !s.eof {
			if s.keep == 0 && s.end == len(s.buf)-slack {
				break
			}
			s.fill()
			continue
		}
		if size := int(sizes[s.buf[s.pos]]); size != 0 && s.supplies == 0 && !s.launches && size <= s.end-s.pos {
			s.last = kinds[s.buf[s.pos]]
			s.pos += size
			s.next++
			continue
		}
		here, before := s.pos, s.place()
		e, err := s.step()
		if err != nil || s.base+int64(s.pos) > offset {
			break
		}
		if e.Kind == RunQueue && (!before.entry.Timed || e.Clock > before.entry.Clock) {
			if before.offset > from.offset {
				clock, passed = before.entry.Clock, true
			}
			from, s.keep = before, here
		}
	}
	s.back(from)
	s.keep = -1
	return clock, passed
}
