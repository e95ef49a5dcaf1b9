package zeroad

import (
	"bytes"

	"github.com/desynctool/desynctool/engines/engine"
)

// logs are the interesting log, a page, and the game's output.
func logs() []engine.Log {
	return []engine.Log{{
		Logger: "0 A.D. page", Page: true,
		Marks: []engine.Mark{{Text: "<title>Pyrogenesis Log"}, {Text: "<h2>0 A.D. (", Begin: true}},
		Facts: func(message []byte, to engine.FactTaker) {
			if _, rest, ok := bytes.Cut(message, []byte("<h2>0 A.D. (")); ok {
				version, _, _ := bytes.Cut(rest, []byte(")"))
				to.Know("version", version)
			}
		},
	}, {
		Logger: "0 A.D.", Marks: []engine.Mark{{Text: "TIMER| ", Begin: true}, {Text: "FILES| ", Begin: true}},
	}}
}
