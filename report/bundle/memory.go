package bundle

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/memory"
	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

// MemoryType names the type of raw memory.
type MemoryType struct {
	Program  string // a path: the game with its debug information
	Declared string // a path: a text that declares the type; instead of Program
	Type     string // the name, with [] for as many elements as fit, or [N] for N
	Offset   int64  // bytes before the first element
}

// Given reports whether a type is named.
func (m MemoryType) Given() bool { return m != MemoryType{} }

// layout returns the type, and how memory of it is decoded.
func (m MemoryType) layout() (l *memory.Layout, opt memory.Options, err error) {
	opt.Offset = m.Offset
	name, count, several := strings.Cut(strings.TrimSuffix(m.Type, "]"), "[")
	if several && strings.HasSuffix(m.Type, "]") {
		opt.Elements = -1
		if count != "" {
			if opt.Elements, err = strconv.ParseInt(count, 10, 64); err != nil || opt.Elements < 1 {
				return nil, opt, fmt.Errorf("--type %s: %q elements, expected a number", m.Type, count)
			}
		}
	} else {
		name = m.Type
	}
	if m.Declared != "" {
		l, err = declared(m.Declared, name)
		return l, opt, err
	}
	if m.Program == "" || name == "" {
		return nil, opt, errors.New("raw memory needs --debug-info GAME and --type TYPE, or --struct FILE")
	}
	f, err := os.Open(m.Program)
	if err != nil {
		return nil, opt, err
	}
	defer f.Close()
	types, err := memory.Types(f)
	if err == nil {
		l, err = types.Layout(name)
	}
	if err != nil {
		return nil, opt, fmt.Errorf("%s: %w", m.Program, err)
	}
	return l, opt, nil
}

// maxDeclared is the maximum size in bytes of a text with declarations.
const maxDeclared = 1 << 20

// declared returns a type that a text declares.
func declared(path, name string) (*memory.Layout, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDeclared+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDeclared {
		return nil, fmt.Errorf("%s: more than %d bytes, expected declarations of structs", path, maxDeclared)
	}
	l, err := memory.Parse(string(text), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// OpenMemory opens two dumps of raw memory of one type.
func OpenMemory(tree *archive.Tree, a, b string, of MemoryType) (*Pair, error) {
	l, opt, err := of.layout()
	if err != nil {
		return nil, err
	}
	p := &Pair{tree: tree, Paths: [2]string{a, b}, Names: [2]string(snapshot.PeerNames([]string{"", ""}, []string{a, b}))}
	var dumps [2][]byte
	for i, path := range p.Paths {
		if dumps[i], err = dump(tree, path); err != nil {
			return nil, err
		}
	}
	opt.Keys = l.Keys(opt, dumps[:]...)
	for i, side := range []*snapshot.State{&p.A, &p.B} {
		w, err := l.Decode(dumps[i], p.Paths[i], opt)
		if err != nil {
			return nil, err
		}
		if *side, err = snapshot.Hold(w); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Paths[i], err)
		}
	}
	p.Findings = l.Findings(dumps[0], dumps[1], opt)
	return p, nil
}

// dump reads a dump of memory.
func dump(tree *archive.Tree, path string) ([]byte, error) {
	f, size, err := content(tree, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if limits.State.Over(size) {
		return nil, limits.State.Reached(path, size)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), raw); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return raw, nil
}
