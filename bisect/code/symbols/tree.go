package symbols

import (
	"debug/dwarf"
	"errors"
)

// treeReader reads the functions of a unit.
type treeReader struct {
	p     *Program
	r     *dwarf.Reader
	files []*dwarf.LineFile
}

// children reads the functions among the entries up to the end of their parent. Scopes in between are passed through.
func (t *treeReader) children(list *[]*function, depth int) error {
	if depth > maxDepth {
		return errors.New("debug information is damaged: entries lie more than 100 deep in each other")
	}
	for {
		e, err := t.r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == 0 {
			return nil
		}
		to := list
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			f, err := t.function(e)
			if err != nil {
				return err
			}
			if len(f.ranges) > 0 {
				*list = append(*list, f)
				to = &f.inlined
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagModule:
		default:
			t.r.SkipChildren()
			continue
		}
		if e.Children {
			if err := t.children(to, depth+1); err != nil {
				return err
			}
		}
	}
}

// function reads an entry. Its name may be in the entry of its declaration.
func (t *treeReader) function(e *dwarf.Entry) (*function, error) {
	f := &function{}
	var err error
	if f.ranges, err = t.p.data.Ranges(e); err != nil || len(f.ranges) == 0 {
		return f, err
	}
	if number, ok := e.Val(dwarf.AttrCallFile).(int64); ok && 0 <= number && number < int64(len(t.files)) && t.files[number] != nil {
		f.callFile = t.files[number].Name
	}
	if line, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
		f.callLine = int(line)
	}
	if column, ok := e.Val(dwarf.AttrCallColumn).(int64); ok {
		f.callCol = int(column)
	}
	// A chain of a call, its abstract function, and the declaration of that.
	for range 4 {
		if name, ok := e.Val(dwarf.AttrName).(string); ok && f.name == "" {
			f.name = name
		}
		if line, ok := e.Val(dwarf.AttrDeclLine).(int64); ok && f.line == 0 {
			f.line = int(line)
		}
		at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if at, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return f, nil
			}
		}
		r := t.p.data.Reader()
		r.Seek(at)
		if e, err = r.Next(); err != nil {
			return f, err
		}
		if e == nil {
			return f, nil
		}
	}
	return f, nil
}
