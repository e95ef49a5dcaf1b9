package openttd

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// Scopes of the checkpoints.
const (
	seed     = "" // the first word of the random number generator's state
	commands = "commands"
)

const (
	// ahead is how many frames after others the messages of a frame may come: the server
	// sends commands of frames to come.
	ahead = 512
	// maxCommands is how many commands of a frame are named; all are counted.
	maxCommands = 256
)

// Formats returns the format of a client's messages of the network.
func Formats() []tracediff.Format {
	return []tracediff.Format{{
		Name: "openttd-net", Title: "OpenTTD client's messages of the network (-d net=9)", Sniff: traceSniff,
		Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) {
			return &netLog{lines: orderlog.NewLines(r, name), frames: map[uint64]*received{}}, nil
		},
	}}
}

func traceSniff(head []byte) bool {
	for line := range bytes.Lines(head) {
		if _, ok := parseLine(bytes.TrimRight(line, "\r\n")); ok {
			return true
		}
	}
	return false
}

var (
	syncMark    = []byte("Client::Receive_SERVER_SYNC(): sync_frame=")
	commandMark = []byte("Client::Receive_SERVER_COMMAND(): cmd=")
)

// message is the content of a line.
type message struct {
	frame   uint64
	seed    uint32
	command uint64
	sync    bool // else a command
}

// parseLine parses a line of the game, with or without a date:
//
//	[2026-04-28 20:04:20] dbg: [net:9] Client::Receive_SERVER_SYNC(): sync_frame=N, sync_seed_1=N
//	[2026-04-28 20:04:21] dbg: [net:9] Client::Receive_SERVER_COMMAND(): cmd=N, frame=N
func parseLine(line []byte) (m message, ok bool) {
	at := bytes.Index(line, []byte("dbg: [net:9] "))
	if at < 0 || at > 0 && (line[0] != '[' || !bytes.HasSuffix(line[:at], []byte("] ")) || len(bytes.Trim(line[1:at-2], "0123456789-: ")) > 0) {
		return m, false
	}
	line = line[at+len("dbg: [net:9] "):]
	if rest, is := bytes.CutPrefix(line, syncMark); is {
		a, rest, _ := bytes.Cut(rest, []byte(", sync_seed_1="))
		b, _, _ := bytes.Cut(rest, []byte(", ")) // a second word where the game is built to send it
		word, ok2 := number(b, math.MaxUint32)
		m.frame, ok = number(a, math.MaxUint32)
		m.seed, m.sync = uint32(word), true
		return m, ok && ok2
	}
	rest, is := bytes.CutPrefix(line, commandMark)
	a, b, _ := bytes.Cut(rest, []byte(", frame="))
	var ok1, ok2 bool
	m.command, ok1 = number(a, math.MaxUint32)
	m.frame, ok2 = number(b, math.MaxUint32)
	return m, is && ok1 && ok2
}

func number(b []byte, limit uint64) (uint64, bool) {
	n, err := strconv.ParseUint(string(b), 10, 64)
	return n, err == nil && n <= limit && b[0] != '+'
}

// received is the received data of one frame.
type received struct {
	number   uint64
	synced   bool
	seed     [4]byte
	seedPos  tracediff.Position
	commands uint64
	first    []byte             // the numbers of the first ones, with commas
	pos      tracediff.Position // of the first command
}

// netLog reads a log. Frames wait until no message of them can come any more.
type netLog struct {
	lines  *orderlog.Lines
	frames map[uint64]*received
	order  []uint64 // those that wait, ascending
	newest uint64
	due    []tracediff.Record // of frames that are done
	err    error
}

func (r *netLog) Header() tracediff.Header { return tracediff.Header{Peer: "server"} }

func (r *netLog) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "OpenTTD", File: "messages of OpenTTD's network", Endless: true,
		TickName: messages.TickName("frame"),
		Covers:   "messages of the server: the first word of its random number generator's state, and commands; nothing of the client's own game",
	}
}

func (r *netLog) Next() (*tracediff.Record, error) {
	for {
		if len(r.due) > 0 {
			rec := r.due[0]
			r.due = r.due[1:]
			return &rec, nil
		}
		r.due = nil
		if len(r.order) > 0 && (r.err != nil || r.newest-r.order[0] > ahead) {
			r.finish()
			continue
		}
		if r.err != nil {
			return nil, r.err
		}
		line, err := engine.NextLine(r.lines)
		r.err = err
		if m, ok := parseLine(line); ok && err == nil {
			r.take(&m)
		}
	}
}

// take adds a message to its frame.
func (r *netLog) take(m *message) {
	if len(r.order) > 0 && m.frame+ahead < r.newest { // another game
		for len(r.order) > 0 {
			r.finish()
		}
		r.newest = 0
	}
	f := r.frames[m.frame]
	pos := engine.PositionOf(r.lines)
	if f == nil {
		f = &received{number: m.frame}
		r.frames[m.frame] = f
		at, _ := slices.BinarySearch(r.order, m.frame)
		r.order = slices.Insert(r.order, at, m.frame)
	}
	r.newest = max(r.newest, m.frame)
	if m.sync {
		if !f.synced {
			f.seedPos = pos
		}
		f.synced = true
		binary.BigEndian.PutUint32(f.seed[:], m.seed)
		return
	}
	if f.commands == 0 {
		f.pos = pos
	}
	if f.commands++; f.commands <= maxCommands {
		if f.commands > 1 {
			f.first = append(f.first, ',')
		}
		f.first = strconv.AppendUint(f.first, m.command, 10)
	}
}

// finish makes the records of the oldest frame.
func (r *netLog) finish() {
	f := r.frames[r.order[0]]
	delete(r.frames, f.number)
	r.order = r.order[1:]
	if f.synced {
		sum := append([]byte("0x"), hex.EncodeToString(f.seed[:])...)
		r.due = append(r.due, tracediff.Record{Pos: f.seedPos, Checkpoint: &tracediff.Checkpoint{
			Tick: f.number, Scope: seed, Sums: []tracediff.Sum{{Value: sum}},
		}})
	}
	if f.commands > 0 {
		r.due = append(r.due, tracediff.Record{Pos: f.pos, Checkpoint: &tracediff.Checkpoint{
			Tick: f.number, Scope: commands, Sums: []tracediff.Sum{{Name: "cmd", Value: f.first}}, Count: f.commands, HasCount: true,
		}})
	}
}
