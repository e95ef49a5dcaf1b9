package spring

import (
	"bytes"

	"github.com/desynctool/desynctool/engines/engine"
)

func logs() []engine.Log {
	return []engine.Log{{
		Logger: "Spring", Marks: []engine.Mark{{Text: "[t=00", Begin: true}, {Text: "[f=", Begin: true}, {Text: "Spring Engine Version:"}},
		Facts: logFacts, Names: map[string]string{"spring engine version": "engine_version", "recoil engine version": "engine_version"},
	}}
}

func logFacts(message []byte, to engine.FactTaker) {
	for _, of := range []struct{ name, quoted, plain string }{
		{"map", `using map "`, "using map: "}, {"mod", `using game "`, "using mod: "},
	} {
		if _, rest, ok := bytes.Cut(message, []byte(of.quoted)); ok {
			value, _, _ := bytes.Cut(rest, []byte(`"`))
			to.Know(of.name, value)
		} else if _, value, ok := bytes.Cut(message, []byte(of.plain)); ok {
			to.Know(of.name, value)
		}
	}
}
