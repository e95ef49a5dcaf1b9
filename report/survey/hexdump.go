package survey

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
)

// The lines that * replaces in a hex dump end at most at leastRepeated bytes, or a multiple of its text. DumpWidth is how many
// bytes a line has.
const leastRepeated, repeatedRatio, dumpWidth = 1 << 20, 1 << 10, 16

// hexDump returns the bytes that xxd, hexdump or od wrote as text, nil for other text: lines of an offset and groups of
// hexadecimal digits, up to a column at which their characters may follow. Without a colon after the offset, groups of
// several bytes are numbers, the lowest byte first.
func hexDump(text []byte) []byte {
	if out := hexDumpIn(text, 16); out != nil {
		return out
	}
	return hexDumpIn(text, 8) // as od counts
}

// hexDumpIn is hexDump for offsets of a base.
func hexDumpIn(text []byte, base int) (out []byte) {
	end, lines, repeat := 0, 0, false
	most := uint64(max(leastRepeated, repeatedRatio*len(text)))
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); string(line) == "*" && lines > 0 {
			repeat = true
			continue
		}
		offset, rest, _ := bytes.Cut(line, []byte(" "))
		offset, colon := bytes.CutSuffix(offset, []byte(":"))
		at, err := strconv.ParseUint(string(offset), base, 32)
		if len(offset) < 4 || err != nil || repeat && at > most {
			return nil
		}
		for repeat && uint64(len(out)) < at {
			out = append(out, out[len(out)-dumpWidth:]...)
		}
		if repeat = false; at != uint64(len(out)) {
			return nil
		}
		if lines++; lines > 1 {
			rest = rest[:min(len(rest), end)]
		}
		for i, n := 0, len(out); i < len(rest) && len(out) < n+dumpWidth; i++ {
			group, _, _ := bytes.Cut(rest[i:], []byte(" "))
			raw := make([]byte, len(group)/2)
			if _, err := hex.Decode(raw, group); err != nil || len(out)+len(raw) > n+dumpWidth {
				break
			}
			if !colon {
				slices.Reverse(raw)
			}
			out = append(out, raw...)
			i += len(group)
			end = max(end, i)
		}
		if lines == 1 && len(out) != dumpWidth {
			return nil
		}
	}
	if lines < 2 {
		return nil
	}
	return out
}
