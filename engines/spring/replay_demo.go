package spring

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/frame"
)

// Offsets in the header of a demo.
const (
	headerLen    = 352
	atSize       = 20  // i32, of the header
	atScriptSize = 304 // i32
	atStreamSize = 308 // i32, of all chunks
	atPlayerStat = 324 // i32, size of the players' statistics
	atTeamStat   = 336 // i32, of the teams'
	atWinners    = 348 // i32
)

// Messages that the copy changes, in addition to those that the reader of demos names.
const (
	msgQuit     = 3
	msgLog      = 49
	msgGameData = 52
)

// maxSetup bounds the start script that a demo's first message unpacks to, in bytes.
const maxSetup = 16 << 20

// recording is a demo that is read message by message, and the bytes of its header.
type recording struct {
	*Demo
	header []byte // the first headerLen bytes
	file   *os.File
}

func openRecording(path string) (*recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	content, _, err := compression.Unpack(f, maxDemo)
	if err != nil {
		f.Close()
		return nil, err
	}
	in := bufio.NewReader(content)
	head, _ := in.Peek(headerLen)
	head = bytes.Clone(head)
	d, err := NewDemo(in, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &recording{d, head, f}, nil
}

// maxDemo bounds the unpacked size of a demo, in bytes.
const maxDemo = 4 << 30

// writer writes a demo. The header contains the length, so it is written last.
type writer struct {
	file *os.File
	zip  *gzip.Writer
	time float32
	err  error
}

// chunk writes one message.
func (w *writer) chunk(body []byte) {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], math.Float32bits(w.time))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(body)))
	for _, b := range [][]byte{head[:], body} {
		if w.err == nil {
			_, w.err = w.zip.Write(b)
		}
	}
}

// create begins a demo with a copy of another demo's header, without statistics. The size of its messages is not given,
// as after a crash: they extend to the end of the file.
func create(path string, header []byte, script string) (*writer, error) {
	head := bytes.Clone(header)
	put := func(at int, v int) { binary.LittleEndian.PutUint32(head[at:], uint32(v)) }
	put(atSize, headerLen)
	put(atScriptSize, len(script))
	for _, at := range []int{atStreamSize, atPlayerStat, atTeamStat, atWinners} {
		put(at, 0)
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &writer{file: f, zip: gzip.NewWriter(f)}
	_, w.err = io.WriteString(w.zip, string(head)+script)
	return w, nil
}

func (w *writer) close() error {
	return errors.Join(w.err, w.zip.Close(), w.file.Close())
}

// response is a message with the checksum that a player's machine computed for a frame.
func response(player uint32, number int64, sum uint32) []byte {
	b := []byte{MsgSyncResponse, byte(player)}
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(number)))
	return binary.LittleEndian.AppendUint32(b, sum)
}

// copying copies a recording for the game to play.
//
// The game compares its checksum with each response in a demo, and writes both to its log where they differ. Players'
// responses are for every 60th frame. They are left out, and a response with our checksum, the probe, follows each
// frame: so the game writes its own checksum of each frame. Responses change nothing in the simulation.
//
// Simulated messages stay byte for byte and in order. Messages that are only text are also left out: the server's and
// the players' lines for the log, which could be taken for the game's own. The game's interface, ui.lua, sets a speed
// that is never reached: the server sends more as soon as the game is less than 30 frames behind it.
type copying struct {
	until int64 // the last frame
	probe uint32
	// player is the player that the probe pretends to come from.
	player uint32
	// mutator is an archive that the game is to load over its own; "" for none.
	mutator string
}

const (
	// restSeconds is how long the demo continues after its last frame, so that the game computes that frame before the
	// demo ends: it does not compare frames that it computes later. It is ended before.
	restSeconds = 1 << 20
)

// write copies a demo to path. It returns the last frame of the copy. A recording that breaks off
// is copied up to there.
func (c *copying) write(from, path string) (last int64, err error) {
	in, err := openRecording(from)
	if err != nil {
		return -1, err
	}
	defer in.file.Close()
	script := in.Header.Script
	if c.mutator != "" {
		if script, err = withMutator(script, c.mutator); err != nil {
			return -1, err
		}
	}
	w, err := create(path, in.header, script)
	if err != nil {
		return -1, err
	}
	last, err = c.copy(in, w)
	if closed := w.close(); err == nil {
		err = closed
	}
	return last, err
}

func (c *copying) copy(in *recording, w *writer) (last int64, err error) {
	last = -1
	begun := false
	for w.err == nil {
		m, err := in.Next()
		if err == io.EOF || errors.Is(err, frame.ErrTorn) && last >= 0 {
			break
		}
		if err != nil {
			return last, err
		}
		if m.Frame > c.until {
			break
		}
		w.time = float32(max(m.Frame, 0)) / 30
		switch m.Type {
		case msgGameData:
			body := m.Body
			if c.mutator != "" && !begun {
				if body, err = mutated(body, c.mutator); err != nil {
					return last, fmt.Errorf("its first message: %w", err)
				}
			}
			begun = true
			w.chunk(body)
		case MsgSyncResponse, MsgSystem, msgLog, msgQuit:
		case MsgKeyFrame, MsgNewFrame:
			w.chunk(m.Body)
			if m.Frame > last {
				last = m.Frame
				w.chunk(response(c.player, last, c.probe))
			}
		default:
			w.chunk(m.Body)
		}
		if !begun {
			return last, errors.New("it does not begin with the game's data")
		}
	}
	if last < 0 {
		return last, errors.New("it has no frame")
	}
	// One more frame, that the interface is called at its start: the state after the last step. The compared frames
	// stay the same.
	w.chunk([]byte{MsgNewFrame})
	w.time += restSeconds
	w.chunk(response(c.player, last, c.probe))
	return last, w.err
}

// withMutator returns a start script in which the game loads one more archive, over its own. Those that the
// recording loads in this way come first.
func withMutator(script, name string) (string, error) {
	n := 0
	for lower := strings.ToLower(script); strings.Contains(lower, fmt.Sprintf("mutator%d=", n)); {
		n++
	}
	if n >= maxMutators {
		return "", fmt.Errorf("its start script loads %d archives over the game, and Spring takes no more", n)
	}
	return inGame(script, fmt.Sprintf("mutator%d=%s;", n, name))
}

// maxMutators is how many archives the engine loads over a game.
const maxMutators = 10

// inGame returns a start script with one more line at the beginning of its section [game].
func inGame(script, line string) (string, error) {
	at := strings.Index(strings.ToLower(script), "[game]")
	if at < 0 {
		return "", errors.New("its start script has no section [game]")
	}
	brace := strings.IndexByte(script[at:], '{')
	if brace < 0 {
		return "", errors.New("the section [game] of its start script is empty")
	}
	at += brace + 1
	return script[:at] + "\n" + line + script[at:], nil
}

// mutated changes the start script in the message that begins a game: u16 size, u16 size of the script in zlib, the
// script, and the rest.
func mutated(body []byte, name string) ([]byte, error) {
	if len(body) < 5 {
		return nil, fmt.Errorf("%d bytes, expected at least 5", len(body))
	}
	size := int(binary.LittleEndian.Uint16(body[3:]))
	if len(body) < 5+size {
		return nil, fmt.Errorf("a start script of %d bytes, %d are left", size, len(body)-5)
	}
	z, err := zlib.NewReader(bytes.NewReader(body[5 : 5+size]))
	if err != nil {
		return nil, err
	}
	script, err := io.ReadAll(io.LimitReader(z, maxSetup+1))
	if err != nil {
		return nil, err
	}
	if len(script) > maxSetup {
		return nil, fmt.Errorf("a start script of more than %d bytes", maxSetup)
	}
	text, err := withMutator(string(script), name)
	if err != nil {
		return nil, err
	}
	var packedScript bytes.Buffer
	zw := zlib.NewWriter(&packedScript)
	zw.Write([]byte(text))
	zw.Close()
	rest := body[5+size:]
	whole := 5 + packedScript.Len() + len(rest)
	if whole > math.MaxUint16 {
		return nil, fmt.Errorf("%d bytes with the interface that dumps states, at most %d", whole, math.MaxUint16)
	}
	out := []byte{body[0]}
	out = binary.LittleEndian.AppendUint16(out, uint16(whole))
	out = binary.LittleEndian.AppendUint16(out, uint16(packedScript.Len()))
	out = append(out, packedScript.Bytes()...)
	return append(out, rest...), nil
}
