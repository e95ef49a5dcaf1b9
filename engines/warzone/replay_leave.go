package warzone

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/engines/engine"
)

// watching is the game's own slot while it plays a recording, a spectator's.
const watching = 23

// leave writes the game's results: a recording of the game's slot, with the orders of the played recording, and its
// dumps.
func (s *play) leave() error {
	slot := watching
	for _, t := range slices.Sorted(maps.Keys(s.dumps)) {
		slot = s.dumps[t].slot
	}
	for t, d := range s.dumps {
		s.known[t] = uint16(d.crc)
		name := fmt.Sprintf("desync%d_p%d.txt", t, d.slot)
		if err := os.Rename(d.file, filepath.Join(s.dirs.Out, name)); err != nil {
			return err
		}
	}
	return engine.WriteFile(filepath.Join(s.dirs.Out, fmt.Sprintf("replay_p%d.wzrp", slot)), func(w io.Writer) error {
		return s.rec.writeComputed(w, uint8(slot), s.known)
	})
}

// writeComputed writes the recording with other checksums: those that were computed, by game time, as the reports
// of one slot.
func (r *recording) writeComputed(w io.Writer, slot uint8, computed map[uint32]uint16) error {
	head, err := r.headOf(int(slot))
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	said := map[uint32]bool{}
	var b []byte
	_, err = r.each(func(m *Message, g *GameTime) error {
		b = b[:0]
		switch {
		case g == nil:
			b = m.Append(b)
		case m.Queue == slot:
		case g.CheckTime == 0:
			b = appendReport(b, report{m.Queue, *g})
		default:
			b = appendReport(b, blank(report{m.Queue, *g}))
			if crc, ok := computed[g.CheckTime]; ok && !said[g.CheckTime] && r.compares(m.Queue) {
				said[g.CheckTime] = true
				own := report{slot, *g}
				own.CRC = crc
				b = appendReport(b, own)
			}
		}
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	_, err = w.Write(r.tail())
	return err
}

// headOf returns the part before the messages, for the recording of a slot, without an embedded map.
func (r *recording) headOf(slot int) ([]byte, error) {
	var all, options map[string]json.RawMessage
	if err := json.Unmarshal(r.settings.JSON, &all); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(all["gameOptions"], &options); err != nil {
		return nil, err
	}
	options["selectedPlayer"] = fmt.Appendf(nil, "%d", slot)
	var err error
	if all["gameOptions"], err = json.Marshal(options); err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	b := binary.BigEndian.AppendUint32([]byte(Magic), uint32(len(text)))
	b = append(b, text...)
	return append(b, 0, 0, 0, 1, 0, 0, 0, 0), nil
}

// tail returns the part after the messages.
func (r *recording) tail() []byte {
	elapsed := r.elapsed
	if elapsed == 0 {
		elapsed = uint64(r.lastTime())
	}
	text := fmt.Sprintf(`{"gameTimeElapsed":%d}`, elapsed)
	b := []byte{0, byte(r.end), 0}
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
	b = append(b, text...)
	return binary.BigEndian.AppendUint32(b, uint32(len(text)))
}
