package formats

import (
	"io"

	"github.com/desynctool/desynctool/anygame/statements"
	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// Messages are the formats of messages that any log may contain.
func Messages() []engine.Format {
	var list []engine.Format
	for _, e := range engines.All() {
		if e.Messages != nil {
			f := engine.Trace(e.Messages.Format(), "*.log, *.txt", "claims")
			f.Game, f.Page = e.Game, true
			list = append(list, f)
		}
	}
	return list
}

// ReadMessages reads the engines' messages anywhere in a log of any program, once. All has the messages of all formats.
// Each has the messages of each format of [Messages] by its name. Where no engine's message is found, all has the
// messages of a program that is not known, see package statements.
func ReadMessages(tree files.Tree, path string, opts tracediff.ReadOptions) (all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog, err error) {
	all, err = tracediff.ReadClaims(tree, path, &tracediff.Format{Claims: func(r io.Reader, name string) (log *tracediff.ClaimLog, err error) {
		log, each, err = ScanMessages(r, name)
		return log, err
	}}, opts)
	for _, log := range each {
		log.File = path
	}
	return all, each, err
}

// ScanMessages does the same for an open log.
func ScanMessages(r io.Reader, name string) (all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog, err error) {
	said := statements.NewScanner(name)
	all, each, err = messages.ScanEach(r, name, engines.Messages(), said.Join)
	if err != nil || len(all.Claims) > 0 {
		return all, each, err
	}
	if general := said.Log(); len(general.Claims) > 0 {
		all = general
	}
	return all, each, nil
}

// ReadTold reads a text in which [ReadMessages] finds nothing as one that a person wrote about a desync, see
// [statements.Told].
func ReadTold(tree files.Tree, path string) (*tracediff.ClaimLog, error) {
	return tracediff.ReadClaims(tree, path, &tracediff.Format{Claims: func(r io.Reader, name string) (*tracediff.ClaimLog, error) {
		text, err := io.ReadAll(io.LimitReader(r, statements.MaxTold+1))
		return statements.Told(text, name), err
	}}, tracediff.ReadOptions{})
}
