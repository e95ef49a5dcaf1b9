package widelands

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
)

// A frame of the game takes as long as the clock measures, at most a second. The game reads commands and hashes up to
// the end of a frame, and the last one may end the replay before the frame is played. So this much is left to play
// after the last requested tick, in ms of the game.
const beyond = 1000*speed + 1000

// day is how long after its end the last command of a replay is due, in ms: it is never run.
const day = 24 * 60 * 60 * 1000

// confirmation is what the game is asked to confirm: that the MD5 of its sync stream at a time is this one.
type confirmation struct {
	at  uint32 // ms
	md5 [16]byte
}

// copyReplay writes a replay up to the first hash after a tick, nil for all of it, so that the game reads it to its
// end. It returns the hashes in it. A replay that breaks off is copied as far as it is complete.
func copyReplay(from, to string, until *uint64) ([]confirmation, error) {
	in, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	replay, err := NewReplay(in, from)
	if err != nil {
		return nil, err
	}
	last := uint64(math.MaxUint32)
	if until != nil {
		last = min(last, *until)
	}
	var asked []confirmation
	end, enough := uint32(0), false
	whole := int64(0) // bytes up to the first packet that is not wanted
	for {
		k, err := replay.Next()
		if err == io.EOF || errors.Is(err, frame.ErrTorn) {
			break
		}
		if err != nil {
			return nil, err
		}
		if enough {
			break
		}
		// The hash at time t covers everything that is due before t, so only a hash after the last tick covers that
		// tick.
		enough = k.Kind == Hash && uint64(k.Time) > last
		end = max(end, k.Time)
		switch k.Kind {
		case End:
			enough = true
		case Hash:
			asked = append(asked, confirmation{k.Time, k.MD5})
			whole = k.Offset + int64(ordersPackets[Hash])
		case Command:
			whole = k.Offset + ordersCommandHead + int64(len(k.Bytes))
		}
	}
	if len(asked) == 0 {
		return nil, &engine.Refusal{Why: "it has no hashes, so that the game has nothing to confirm"}
	}
	if end > math.MaxUint32-beyond-day {
		return nil, &engine.Refusal{Why: "it ends at a time that no game reaches"}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return asked, engine.WriteFile(to, func(w io.Writer) error {
		if _, err := io.CopyN(w, in, whole); err != nil {
			return err
		}
		end += beyond
		// Build a flag, of player 1, at 0, 0.
		packet := append([]byte{byte(Command)}, words(end, end+day, 0)...)
		packet = append(packet, 2, 1, 0, 0, 0, 0, byte(End))
		_, err := w.Write(append(packet, words(end)...))
		return err
	})
}

func words(list ...uint32) []byte {
	var out []byte
	for _, v := range list {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

// writeComputed writes a replay with another one's commands and the hashes that the game computed: the recorded hashes
// up to a time, which it confirmed, then its own if it differs.
func writeComputed(from, to string, confirmed uint32, differs *confirmation) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	replay, err := NewReplay(bufio.NewReader(in), from)
	if err != nil {
		return err
	}
	head := make([]byte, replayHeader)
	if _, err := in.ReadAt(head, 0); err != nil {
		return err
	}
	end := confirmed
	if differs != nil {
		end = differs.at
	}
	return engine.WriteFile(to, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		for {
			k, err := replay.Next()
			if err == io.EOF || errors.Is(err, frame.ErrTorn) || err == nil && (k.Kind == End || k.Time > end) {
				break
			}
			if err != nil {
				return err
			}
			packet := append([]byte{byte(k.Kind)}, words(k.Time)...)
			switch {
			case k.Kind == Command:
				packet = append(append(packet, words(k.Due, k.Serial)...), k.Bytes...)
			case k.Time <= confirmed:
				packet = append(packet, k.MD5[:]...)
			default:
				packet = append(packet, differs.md5[:]...)
			}
			if _, err := w.Write(packet); err != nil {
				return err
			}
		}
		_, err := w.Write(append([]byte{byte(End)}, words(end)...))
		return err
	})
}
