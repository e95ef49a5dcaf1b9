package warzone

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lists"

	"github.com/desynctool/desynctool/tracediff"
)

// states reads what slots report of their states from a recording.
type states struct {
	replay *Replay
	known  [256]bool
	slots  []int // that have reported, in the order in which they first did
}

// next returns the next message that reports a state. Slots have none to report
// at first, or the game none to compare it with: time and CRC are 0 then.
func (s *states) next() (*Message, GameTime, error) {
	for {
		m, err := s.replay.Next()
		if err != nil {
			return nil, GameTime{}, err
		}
		if m.Type != TimeMessage {
			continue
		}
		g, ok := m.GameTime()
		if !ok {
			return m, g, nil
		}
		if g.CheckTime == 0 && g.CRC == 0 {
			continue
		}
		if !s.known[m.Queue] {
			s.known[m.Queue] = true
			s.slots = append(s.slots, int(m.Queue))
		}
		return m, g, nil
	}
}

// replayPeers returns the slots that report a state: the slots of machines. If the recording breaks off, it returns the
// slots before that.
func replayPeers(r io.Reader, name string) ([]string, error) {
	replay, err := NewReplay(r, name)
	if err != nil {
		return nil, err
	}
	s := states{replay: replay}
	for err == nil {
		_, _, err = s.next()
	}
	if len(s.slots) == 0 {
		return nil, &frame.Error{Name: name, Msg: "no GAME_TIME message: the recording has no state of any peer", Err: frame.ErrTorn}
	}
	return lists.Map(s.slots, SlotName), nil
}

// replay is the trace of one slot in a recording.
type replay struct {
	states
	name   string
	slot   int
	header tracediff.Header
	ahead  *Message // the slot's first one, read already

	rec  tracediff.Record
	at   tracediff.Checkpoint
	sums [1]tracediff.Sum
	text [6]byte
	err  error // once reading has ended
}

// readReplay reads up to the first message of the slot that is peer-th to report
// its state.
func readReplay(r io.Reader, name string, peer int) (tracediff.Source, error) {
	in, err := NewReplay(r, name)
	if err != nil {
		return nil, err
	}
	s := &replay{states: states{replay: in}, name: name, slot: -1}
	s.rec.Checkpoint, s.at.Sums = &s.at, s.sums[:]
	s.sums[0].Value = append(s.text[:0], "0x0000"...)
	for len(s.slots) <= peer {
		m, _, err := s.next()
		if err != nil {
			s.err = err
			break
		}
		s.ahead = m
	}
	settings := in.Settings()
	s.header = tracediff.Header{
		Seed: uint64(settings.Seed), HasSeed: true, Build: settings.Build,
		RateNum: 1000 / TickLength, RateDen: 1,
		Meta: map[string]string{"map": settings.Map},
	}
	if s.err != nil {
		s.ahead = nil
		return s, nil
	}
	s.slot = s.slots[peer]
	s.header.Peer = SlotName(s.slot)
	if s.slot < len(settings.Players) {
		s.header.Meta["player"] = settings.Players[s.slot].Name
	}
	if settings.Slot >= 0 {
		s.header.Meta["recorded by"] = SlotName(settings.Slot)
	}
	return s, nil
}

func (s *replay) Header() tracediff.Header { return s.header }

func (s *replay) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "Warzone 2100", File: "Warzone 2100 recording", TickName: TickName, AtPoint: true,
		Session: s.replay.Settings().Session(),
		Covers: "the lower half of the CRC of one tick's sync debug text: the game's text about objects, power and orders; " +
			"texts that differ have the same one once in 65536",
	}
}

// Next returns the slot's next checksum.
func (s *replay) Next() (*tracediff.Record, error) {
	if s.err != nil {
		return nil, s.err
	}
	for {
		m, err := s.ahead, error(nil)
		s.ahead = nil
		if m == nil {
			if m, _, err = s.next(); err != nil {
				s.err = err
				return nil, err
			}
		}
		g, ok := m.GameTime()
		if !ok {
			s.err = &frame.Error{
				Name: s.name, Offset: m.Offset, Err: frame.ErrCorrupt,
				Msg: fmt.Sprintf("payload of GAME_TIME of %d bytes, expected latency, time, CRC and latency", len(m.Payload)),
			}
			return nil, s.err
		}
		if int(m.Queue) != s.slot {
			continue
		}
		s.rec.Pos.Offset = m.Offset
		s.at.Tick = uint64(g.CheckTime / TickLength)
		var crc [2]byte
		binary.BigEndian.PutUint16(crc[:], g.CRC)
		hex.Encode(s.text[2:], crc[:])
		return &s.rec, nil
	}
}
