package warzone

import (
	"bytes"
	"fmt"
	"os"

	"github.com/desynctool/desynctool/engines/engine"
)

// mend turns a requested dump into the dump as it would be without the request. Its lines about the GAME_TIME messages
// that were read in its tick name the played messages: they are written as recorded, lines of added messages are left
// out, and the head and end get the new CRC. The caller sees by the checksum whether it is then the state of the first
// run.
func (s *play) mend(file string, time uint32) (mended string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines) < 4 {
		return "", &engine.Failure{Why: fmt.Sprintf("its dump of %d has %d lines", time, len(lines)-1)}
	}
	next := map[uint8]int{}
	var kept []byte
	entries := 0
	for _, line := range lines[1 : len(lines)-2] {
		if rep, ok := parseRead(line); ok {
			list := s.rec.read[key{rep.queue, time}]
			if rep.Latency == 0 {
				continue // a mark
			}
			if n := next[rep.queue]; n >= len(list) || rep != list[n] && rep != blank(list[n]) {
				return "", &engine.Failure{Why: fmt.Sprintf("its dump of %d has a line that no message of the recording makes: %.100q", time, line)}
			}
			line = readLine(list[next[rep.queue]])
			next[rep.queue]++
		}
		kept = append(kept, line...)
		entries++
	}
	text := func(crc uint32) []byte {
		edge := func(word string) string {
			return fmt.Sprintf("===== %s gameTime=%d, %d entries, CRC 0x%08X =====\n", word, time, entries, crc)
		}
		return append(append([]byte(edge("BEGIN")), kept...), edge("END")...)
	}
	crc, err := sumOf(text(0))
	if err != nil {
		return "", &engine.Failure{Why: fmt.Sprintf("its dump of %d is damaged: %v", time, err)}
	}
	mended = file + ".mended"
	return mended, os.WriteFile(mended, text(crc), 0o666)
}

// sumOf returns the CRC of the lines of a dump with another one in its head and end.
func sumOf(text []byte) (uint32, error) {
	d, err := NewDump(bytes.NewReader(text), "dump")
	if err != nil {
		return 0, err
	}
	n := uint64(0)
	for ; err == nil; n++ {
		_, err = d.Next()
	}
	if n-1 != d.Head().Entries {
		return 0, err
	}
	return d.Sum(), nil
}

const readForm = "[recvPlayerGameTime] GAME_GAME_TIME p%d;lat%d,ct%d,crc%04X,wlat%d\n"

// readLine returns the line of a dump about a message that was read.
func readLine(r report) []byte {
	return fmt.Appendf(nil, readForm, r.queue, r.Latency, r.CheckTime, r.CRC, r.WantedLatency)
}

// parseRead takes such a line.
func parseRead(line []byte) (r report, ok bool) {
	n, err := fmt.Sscanf(string(line), readForm, &r.queue, &r.Latency, &r.CheckTime, &r.CRC, &r.WantedLatency)
	return r, err == nil && n == 5
}
