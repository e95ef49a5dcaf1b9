package warzone

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
)

// checked is how many queues the game compares the checksums of: the players' queues. Spectators have the queues after
// them.
const checked = 10

// report is the content of one GAME_TIME message.
type report struct {
	queue uint8
	GameTime
}

// key is a report's place in a recording.
type key struct {
	queue uint8
	time  uint32
}

// recording is what is known of a recording before it is played.
type recording struct {
	file     string
	until    uint32 // last game time that is wanted
	settings *Settings
	head     int64 // bytes before the first message
	end      MessageType
	elapsed  uint64
	last     map[uint8]report    // the last report of each queue that the game compares and waits for to the end
	ends     map[uint8]int64     // offset of its message
	crcs     map[uint32][]report // by the time that they name, of queues that the game compares
	read     map[key][]report    // by queue and the label of the tick in which the game reads them
}

// compares reports whether the game compares the checksums of a queue.
func (r *recording) compares(queue uint8) bool {
	return queue < checked || int(queue) == r.settings.Host
}

// scan reads a recording up to a game time.
func scan(file string, until uint32) (*recording, error) {
	r := &recording{
		file: file, until: until, last: map[uint8]report{}, ends: map[uint8]int64{}, crcs: map[uint32][]report{}, read: map[key][]report{},
	}
	var left []uint8
	var due [256]uint64 // game time at which the next message of a queue is read
	replay, err := r.each(func(m *Message, g *GameTime) error {
		if m.Type == PlayerLeftMessage {
			left = append(left, m.Queue)
		}
		if g == nil || !r.compares(m.Queue) {
			return nil
		}
		rep := report{m.Queue, *g}
		at := max(due[m.Queue], ordersFirstTime+TickLength)
		tick := key{m.Queue, uint32(at + TickLength)}
		r.read[tick] = append(r.read[tick], rep)
		if until := uint64(g.CheckTime) + uint64(g.Latency)*TickLength; until >= at {
			due[m.Queue] = at + ((until-at)/TickLength+1)*TickLength
		}
		if g.CheckTime != 0 {
			r.last[m.Queue], r.ends[m.Queue] = rep, m.Offset
			r.crcs[g.CheckTime] = append(r.crcs[g.CheckTime], rep)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, queue := range left {
		delete(r.last, queue)
	}
	if len(r.last) == 0 {
		return nil, &engine.Refusal{Why: "it has no checksum of a player that stayed, so that what the game computes could not be read"}
	}
	r.elapsed, _ = replay.Elapsed()
	end, whole := replay.End()
	if r.end = end; !whole {
		if !strings.HasPrefix(r.settings.Build, "4.3.") {
			return nil, &engine.Refusal{Why: "its end is cut off; it is known how to end it for recordings of 4.3"}
		}
		r.end = oldEnd
	}
	return r, nil
}

// oldEnd is the type of the end marker of 4.3.
const oldEnd = 133

// each calls f for each message that is wanted, with the payload of a GAME_TIME. If the recording is cut off, the part
// before counts.
func (r *recording) each(f func(*Message, *GameTime) error) (*Replay, error) {
	in, err := os.Open(r.file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	replay, err := NewReplay(bufio.NewReader(in), "recording")
	if err != nil {
		return nil, &engine.Refusal{Why: err.Error()}
	}
	r.settings = replay.Settings()
	var closed [256]bool
	for n := 0; ; n++ {
		m, err := replay.Next()
		var broken *frame.Error
		switch {
		case err == io.EOF || errors.As(err, &broken) && errors.Is(broken.Err, frame.ErrTorn):
			return replay, nil
		case err != nil:
			return nil, &engine.Refusal{Why: err.Error()}
		}
		if n == 0 {
			r.head = m.Offset
		}
		if closed[m.Queue] {
			continue
		}
		var g *GameTime
		if m.Type == TimeMessage {
			t, ok := m.GameTime()
			if !ok {
				return nil, &engine.Refusal{Why: fmt.Sprintf("offset %d: payload of GAME_TIME of %d bytes", m.Offset, len(m.Payload))}
			}
			g, closed[m.Queue] = &t, t.CheckTime >= r.until
		}
		if err := f(m, g); err != nil {
			return nil, err
		}
	}
}

// marks are two reports that cannot both be right, at the same time as another one. They are read before what
// comes after it in its queue.
func replayMarks(of report) []report {
	list := make([]report, 2)
	for i, flip := range []uint16{0xFFFF, 0x0001} {
		list[i] = of
		list[i].Latency = 0
		list[i].CRC ^= flip
	}
	return list
}

// appendReport appends a report's message.
func appendReport(b []byte, r report) []byte {
	m := Message{Queue: r.queue, Type: TimeMessage, Payload: r.Append(nil)}
	return m.Append(b)
}

// blank returns a report that names no state but has its queue read as far as after the given one.
//
// The reported value, time + 100 · latency, is 2 more than a multiple of 100, as the game's times are: the multiple
// after it is as good.
func blank(r report) report {
	r.Latency = (r.CheckTime+r.Latency*TickLength)/TickLength + 1
	r.CheckTime, r.CRC = 0, 0
	return r
}
