package factorio

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
)

func logs() []engine.Log {
	return []engine.Log{{
		Logger: "Factorio", Marks: []engine.Mark{{Text: "; Factorio "}, {Text: " Loading mod core "}},
		Facts: logFacts, Tick: logTick, Telling: []string{"pdateTick"},
	}}
}

// logTick returns the tick that a message names: UpdateTick(4711).
func logTick(message []byte) (unit string, tick uint64) {
	i := bytes.Index(message, []byte("pdateTick"))
	if i < 0 {
		return "", 0
	}
	rest := bytes.TrimLeft(message[i+len("pdateTick"):], " ")
	if len(rest) < 2 || rest[0] != '(' {
		return "", 0
	}
	digits := 1
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseUint(string(rest[1:digits]), 10, 64)
	if err != nil || n == 1<<32-1 {
		return "", 0
	}
	return "tick", n
}

func logFacts(message []byte, to engine.FactTaker) {
	if rest, ok := bytes.CutPrefix(message, []byte("Factorio ")); ok {
		version, more, _ := bytes.Cut(rest, []byte(", ")) // which system and which shop
		if bytes.Contains(version, []byte("(")) && len(more) > 0 {
			version = append(version[:len(version):len(version)], ')')
		}
		to.Know("version", version)
		return
	}
	if rest, ok := bytes.CutPrefix(message, []byte("System info: [CPU: ")); ok {
		cpu, _, _ := bytes.Cut(rest, []byte(", "))
		to.Know("cpu", cpu)
		return
	}
	if rest, ok := bytes.CutPrefix(message, []byte("Prototype list checksum: ")); ok {
		to.Know("data hash", rest)
		return
	}
	rest, ok := bytes.CutPrefix(message, []byte("Loading mod "))
	if words := bytes.Fields(rest); ok && len(words) >= 3 && words[1][0] >= '0' && words[1][0] <= '9' {
		to.Mod(string(words[0]) + " " + string(words[1]))
	}
}
