package memory

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/debuginfo"
	"github.com/desynctool/desynctool/internal/prose"
)

// Info is the debug information of a program.
type Info struct {
	data *dwarf.Data
	big  bool
	x86  bool // where a long double has 10 bytes
}

// Types opens the debug information of a program: DWARF in an ELF, PE or Mach-O file.
func Types(r io.ReaderAt) (info *Info, err error) {
	p, err := debuginfo.Open(r)
	if err != nil {
		return nil, err
	}
	return &Info{p.Data, p.Big, p.X86}, nil
}

// Bounds of the search for a name.
const (
	maxFound     = 1000   // definitions of the name
	maxSuggested = 20_000 // other names that are kept
	maxEmpty     = 1000   // entries without content in a row
)

// definition is where a type with a name is defined.
type definition struct {
	name string // with namespaces
	unit string // the source file
	at   dwarf.Offset
}

// Layout returns the layout of a type by its name, with or without namespaces: a struct, a class, a union, an enum or
// another name of one. A name that several types have is an error that lists them.
func (i *Info) Layout(name string) (l *Layout, err error) {
	defer debuginfo.Damaged(&err)
	found, others, err := i.find(name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		msg := fmt.Sprintf("no type %s in the debug information", name)
		if near := prose.DidYouMean(name, others); near != "" {
			msg += near
		}
		return nil, errors.New(msg)
	}
	t := &reader{Info: i, known: map[dwarf.Offset]*typ{}, builder: builder{big: i.big}}
	layouts := map[string]definition{}
	var names []string
	for _, d := range found {
		made, err := t.at(d.at)
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", d.name, err)
		}
		if l, err = t.builder.layout(made); err != nil {
			return nil, fmt.Errorf("type %s: %w", d.name, err)
		}
		key := d.name + l.print
		if _, ok := layouts[key]; !ok {
			layouts[key] = d
			names = append(names, fmt.Sprintf("%s (%d bytes, in %s)", d.name, l.Size, d.unit))
		}
	}
	if len(names) > 1 && !same(t, found) {
		return nil, fmt.Errorf("type %s has %d definitions: %s", name, len(names), prose.Few(names, 5))
	}
	return l, nil
}

// same reports whether all definitions have the same layout.
func same(t *reader, found []definition) bool {
	first := t.known[found[0].at].layout
	return !slices.ContainsFunc(found, func(d definition) bool { return t.known[d.at].layout.print != first.print })
}

// separators join names of namespaces, in the languages that have such.
var separators = [...]string{"::", "."}

// find returns the definitions of a name, and other names. Definitions of exactly that name come before those that end
// with it.
func (i *Info) find(name string) (found []definition, others []string, err error) {
	want, exact := squeeze(name), false
	err = i.each(func(d definition, own string) {
		switch short := squeeze(d.name); {
		case short == want && !exact:
			found, exact = []definition{d}, true
		case (short == want || !exact && ends(short, want)) && len(found) < maxFound:
			found = append(found, d)
		case len(others) < maxSuggested:
			others = append(others, own)
		}
	})
	return found, others, err
}

// each calls a function with each definition of a type that has a name, which is given without its namespaces, too.
func (i *Info) each(visit func(d definition, own string)) error {
	var scopes []string
	unit, empty := "", 0
	r := i.data.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return err
		}
		if e.Tag == 0 {
			if empty++; empty > maxEmpty { // the reader does not come beyond a number that is cut off
				return errors.New("a unit ends within an entry")
			}
			scopes = scopes[:max(0, len(scopes)-1)]
			continue
		}
		empty = 0
		own := nameOf(e)
		full, is, opens := own, false, false
		switch e.Tag {
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagTypeUnit:
			unit, full, opens, scopes = own, "", true, scopes[:0]
		case dwarf.TagNamespace, dwarf.TagModule:
			opens = true
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			is, opens = true, true
		case dwarf.TagEnumerationType, dwarf.TagTypedef:
			is = true
		}
		if n := len(scopes); n > 0 && scopes[n-1] != "" && full != "" {
			full = scopes[n-1] + separators[0] + full
		}
		if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); is && own != "" && !declared {
			visit(definition{full, unit, e.Offset}, own)
		}
		switch {
		case !opens:
			if err := skip(r, e); err != nil {
				return err
			}
		case e.Children && len(scopes) > maxDepth:
			return fmt.Errorf("more than %d namespaces within each other", maxDepth)
		case e.Children:
			scopes = append(scopes, full)
		}
	}
}

// skip skips the children of an entry, with theirs. Reader.SkipChildren believes an entry that leads back, and never ends.
func skip(r *dwarf.Reader, e *dwarf.Entry) (err error) {
	for depth := 0; ; {
		sibling, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset)
		switch {
		case e.Tag == 0:
			depth--
		case e.Children && ok && sibling <= e.Offset:
			return fmt.Errorf("the entry at offset %#x is followed by one before it", e.Offset)
		case e.Children && ok:
			r.Seek(sibling)
		case e.Children:
			depth++
		}
		if depth <= 0 {
			return nil
		}
		if e, err = r.Next(); e == nil || err != nil {
			return err
		}
	}
}

// ends reports whether a name without its namespaces is another one.
func ends(full, name string) bool {
	before, ok := strings.CutSuffix(full, name)
	return ok && name != "" && (strings.HasSuffix(before, separators[0]) || strings.HasSuffix(before, separators[1]))
}

// squeeze removes the blanks of a name that compilers write differently.
func squeeze(name string) string {
	return strings.NewReplacer(", ", ",", " >", ">", " *", "*", " &", "&").Replace(strings.TrimSpace(name))
}

// reader makes types of debug information.
type reader struct {
	*Info
	builder builder
	known   map[dwarf.Offset]*typ   // nil while a type is read
	defined map[string][]definition // by the name without namespaces; nil until it is needed
	depth   int
	bytes   int // of an address, in the unit at hand
}

var errCyclic = errors.New("a type that contains itself")

// node is an entry of debug information, with the children that a type is made of.
type node struct {
	*dwarf.Entry
	kids []node
}

// kept are the children that are read.
var kept = []dwarf.Tag{dwarf.TagMember, dwarf.TagInheritance, dwarf.TagVariantPart, dwarf.TagVariant,
	dwarf.TagSubrangeType, dwarf.TagEnumerator}

// read reads an entry with its children.
func (t *reader) read(at dwarf.Offset) (node, error) {
	r := t.data.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err != nil {
		return node{}, err
	}
	if e == nil || e.Tag == 0 || e.Offset != at {
		return node{}, fmt.Errorf("no entry at offset %#x", at)
	}
	n := node{Entry: e}
	t.bytes = r.AddressSize()
	return n, t.children(r, &n, 0)
}

func (t *reader) children(r *dwarf.Reader, n *node, depth int) error {
	if !n.Children {
		return nil
	}
	if depth > 4 { // variants lie in a part, and members in a variant
		return errors.New("children lie too deep")
	}
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == 0 {
			return nil
		}
		if !slices.Contains(kept, e.Tag) {
			if err := skip(r, e); err != nil {
				return err
			}
			continue
		}
		if len(n.kids) > maxFields {
			return fmt.Errorf("more than %d members", maxFields)
		}
		kid := node{Entry: e}
		if err := t.children(r, &kid, depth+1); err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
}

// at returns the type at an offset.
func (t *reader) at(at dwarf.Offset) (*typ, error) {
	if made, ok := t.known[at]; ok {
		if made == nil {
			return nil, errCyclic
		}
		return made, nil
	}
	if t.depth++; t.depth > maxDepth {
		return nil, fmt.Errorf("more than %d types within each other", maxDepth)
	}
	defer func() { t.depth-- }()
	t.known[at] = nil
	n, err := t.read(at)
	if err != nil {
		return nil, err
	}
	made, err := t.make(n)
	if err != nil {
		return nil, err
	}
	t.known[at] = made
	return made, nil
}

// typeOf returns the type that an entry refers to.
func (t *reader) typeOf(n node) (*typ, error) {
	switch at := n.Val(dwarf.AttrType).(type) {
	case dwarf.Offset:
		return t.at(at)
	case uint64:
		return nil, errors.New("types are in separate units: build without -fdebug-types-section")
	}
	return nil, errors.New("a type that is void or not given")
}

// integer returns an attribute, or another value if there is none that is an integer.
func (n node) integer(a dwarf.Attr, other int64) int64 {
	if v, ok := n.Val(a).(int64); ok {
		return v
	}
	return other
}

// nameOf returns the name of an entry in a form that is safe in an error: damaged names can contain the end of a line.
func nameOf(e *dwarf.Entry) string {
	s, _ := e.Val(dwarf.AttrName).(string)
	return prose.Printable(s)
}

// make makes the type of an entry.
func (t *reader) make(n node) (*typ, error) {
	name, size := nameOf(n.Entry), n.integer(dwarf.AttrByteSize, -1)
	switch n.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType,
		dwarf.TagMutableType, dwarf.TagPackedType:
		inner, err := t.typeOf(n)
		if err == nil && inner.name == "" && name != "" {
			inner.name = name // the struct has no other
		}
		return inner, err
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagUnspecifiedType:
		if size < 0 {
			size = int64(t.bytes)
		}
		return &typ{kind: Pointer, name: name, size: size}, pointerSize(size)
	case dwarf.TagPtrToMemberType:
		return t.memberPointer(n)
	case dwarf.TagBaseType:
		return t.base(n, name, size)
	case dwarf.TagEnumerationType:
		return t.enum(n, name, size)
	case dwarf.TagArrayType:
		return t.array(n)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		return t.structure(n, name, size)
	}
	return nil, fmt.Errorf("a type of kind %s, which is not read", n.Tag)
}

// pointerSize reports a size that no address has.
func pointerSize(size int64) error {
	if size != 2 && size != 4 && size != 8 {
		return fmt.Errorf("an address of %d bytes", size)
	}
	return nil
}

// memberPointer returns a pointer to a member, which is an offset, or to a member function, which is an address and an
// offset.
func (t *reader) memberPointer(n node) (*typ, error) {
	size := int64(t.bytes)
	if at, ok := n.Val(dwarf.AttrType).(dwarf.Offset); ok {
		to, err := t.read(at)
		if err != nil {
			return nil, err
		}
		if to.Tag == dwarf.TagSubroutineType {
			size *= 2
		}
	}
	return &typ{kind: Opaque, size: size}, nil
}

// Encodings of base types, as DWARF numbers them.
const (
	encodedBool         = 0x02
	encodedComplex      = 0x03
	encodedFloat        = 0x04
	encodedSigned       = 0x05
	encodedSignedChar   = 0x06
	encodedUnsigned     = 0x07
	encodedUnsignedChar = 0x08
	encodedCharacter    = 0x10
)

func (t *reader) base(n node, name string, size int64) (*typ, error) {
	if size <= 0 || size > 64 {
		return nil, fmt.Errorf("%s of %d bytes", name, size)
	}
	made := &typ{kind: Opaque, name: name, size: size}
	integer := size == 1 || size == 2 || size == 4 || size == 8
	switch encoding := n.integer(dwarf.AttrEncoding, 0); {
	case encoding == encodedBool && integer:
		made.kind = Bool
	case encoding == encodedFloat && (size == 4 || size == 8):
		made.kind = Float
	case encoding == encodedFloat && size > 10 && t.x86 && name != "__float128" && name != "_Float128":
		made.used = 10
	case (encoding == encodedSigned || encoding == encodedSignedChar) && integer:
		made.kind = Signed
	case (encoding == encodedUnsigned || encoding == encodedUnsignedChar || encoding == encodedCharacter) && integer:
		made.kind = Unsigned
	}
	made.isText = size == 1 && (name == "char" || name == "char8_t")
	return made, nil
}

func (t *reader) enum(n node, name string, size int64) (*typ, error) {
	made := &typ{kind: Enum, name: name, size: size, names: map[uint64]string{}}
	if _, ok := n.Val(dwarf.AttrType).(dwarf.Offset); ok {
		of, err := t.typeOf(n)
		if err != nil {
			return nil, err
		}
		made.signed = of.kind == Signed
		if size < 0 {
			made.size = of.size
		}
	}
	if err := enumSize(made); err != nil {
		return nil, err
	}
	for _, kid := range n.kids {
		if v, ok := kid.Val(dwarf.AttrConstValue).(int64); ok && kid.Tag == dwarf.TagEnumerator {
			made.value(nameOf(kid.Entry), v)
		}
	}
	return made, nil
}

func (t *reader) array(n node) (*typ, error) {
	made, err := t.typeOf(n)
	if err != nil {
		return nil, err
	}
	for _, kid := range slices.Backward(n.kids) {
		if kid.Tag != dwarf.TagSubrangeType {
			continue
		}
		lower := kid.integer(dwarf.AttrLowerBound, 0)
		count := kid.integer(dwarf.AttrCount, kid.integer(dwarf.AttrUpperBound, lower-1)-lower+1)
		if made, err = arrayOf(made, count); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (t *reader) structure(n node, name string, size int64) (*typ, error) {
	if declared, _ := n.Val(dwarf.AttrDeclaration).(bool); declared {
		return t.elsewhere(name)
	}
	if size < 0 {
		return nil, fmt.Errorf("struct %s has no size", name)
	}
	made := &typ{isPlain: true, name: name, size: size}
	if n.Tag == dwarf.TagUnionType {
		made.isPlain, made.kind = false, Union
	}
	for _, kid := range n.kids {
		if kid.Tag == dwarf.TagVariantPart {
			part, err := t.variants(kid, name, size)
			if err != nil {
				return nil, err
			}
			if len(n.kids) == 1 {
				return part, nil
			}
			made.members = append(made.members, member{typ: part})
			continue
		}
		if err := t.member(made, kid); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// elsewhere returns a struct that is only declared in the unit that refers to it.
func (t *reader) elsewhere(name string) (*typ, error) {
	if t.defined == nil {
		t.defined = map[string][]definition{}
		err := t.each(func(d definition, own string) {
			if list := t.defined[own]; len(list) == 0 || len(list) < maxFound && list[0].name != d.name {
				t.defined[own] = append(list, d)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	switch found := t.defined[name]; len(found) {
	case 0:
		return nil, fmt.Errorf("struct %s is declared, and defined nowhere", name)
	case 1:
		return t.at(found[0].at)
	default:
		return nil, fmt.Errorf("struct %s is only declared, and %s and %s are defined", name, found[0].name, found[1].name)
	}
}

// member adds a member, or a base class.
func (t *reader) member(made *typ, n node) error {
	name := nameOf(n.Entry)
	switch n.Tag {
	case dwarf.TagMember:
		if shared, _ := n.Val(dwarf.AttrExternal).(bool); shared || n.Val(dwarf.AttrConstValue) != nil {
			return nil // it lies in no object
		}
	case dwarf.TagInheritance:
		if n.integer(dwarf.AttrVirtuality, 0) != 0 {
			return fmt.Errorf("%s has a virtual base class, and only the program knows its place", made.name)
		}
	default:
		return nil
	}
	of, err := t.typeOf(n)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", made.name, name, err)
	}
	if n.Tag == dwarf.TagInheritance {
		name = of.name
	}
	at, err := n.location()
	if err != nil {
		return fmt.Errorf("%s.%s: %w", made.name, name, err)
	}
	if at > maxSize {
		return fmt.Errorf("%s.%s is at offset %d", made.name, name, at)
	}
	m := member{name: name, typ: of, bit: 8 * at, bits: n.integer(dwarf.AttrBitSize, 0)}
	if m.bits > 0 {
		m.bit += n.bitOffset(m.bits, of.size, t.big)
	}
	made.members = append(made.members, m)
	return nil
}

// bitOffset returns where a bit field begins. Before version 4 of DWARF it was counted from the highest bit of a unit.
func (n node) bitOffset(size, bytes int64, big bool) int64 {
	if v, ok := n.Val(dwarf.AttrDataBitOffset).(int64); ok {
		return v
	}
	v := n.integer(dwarf.AttrBitOffset, 0)
	if big {
		return v
	}
	return 8*n.integer(dwarf.AttrByteSize, bytes) - v - size
}

// location returns the offset of a member.
func (n node) location() (int64, error) {
	const plus = 0x23 // DW_OP_plus_uconst
	switch v := n.Val(dwarf.AttrDataMemberLoc).(type) {
	case nil:
		return 0, nil
	case int64:
		if v >= 0 {
			return v, nil
		}
	case []byte:
		if len(v) > 1 && v[0] == plus {
			if at, used := binary.Uvarint(v[1:]); used == len(v)-1 && at <= maxSize { // LEB128 is the same
				return int64(at), nil
			}
		}
	}
	return 0, errors.New("its offset is computed by the program")
}

// variants returns the type of an enum with data, as in Rust.
func (t *reader) variants(n node, name string, size int64) (*typ, error) {
	made := &typ{kind: Variant, name: name, size: size}
	discr, _ := n.Val(dwarf.AttrDiscr).(dwarf.Offset)
	tag := &typ{}
	for _, kid := range n.kids {
		if kid.Tag == dwarf.TagMember && kid.Offset == discr {
			if err := t.member(tag, kid); err != nil {
				return nil, err
			}
		}
	}
	if len(tag.members) == 1 {
		made.tag = &tag.members[0]
	}
	for _, kid := range n.kids {
		if kid.Tag == dwarf.TagVariant {
			if err := t.variant(made, kid); err != nil {
				return nil, err
			}
		}
	}
	return made, nil
}

func (t *reader) variant(made *typ, n node) error {
	one := &typ{}
	for _, kid := range n.kids {
		if err := t.member(one, kid); err != nil {
			return err
		}
	}
	if len(one.members) != 1 {
		return fmt.Errorf("a variant of %s has %d members, expected one", made.name, len(one.members))
	}
	m := one.members[0]
	if m.typ.isPlain && !strings.Contains(m.typ.name, "::") {
		m.typ.name = made.name + "::" + m.typ.name
	}
	switch v := n.Val(dwarf.AttrDiscrValue).(type) {
	case int64:
		width := int64(8)
		if made.tag != nil {
			width = made.tag.typ.size
		}
		if width < 1 || width > 8 {
			return fmt.Errorf("the tag of %s has %d bytes", made.name, width)
		}
		m.tags = []uint64{uint64(v) << (64 - 8*width) >> (64 - 8*width)}
	case nil:
		m.others = true
	default:
		return fmt.Errorf("a variant of %s has a tag that is not read", made.name)
	}
	made.members = append(made.members, m)
	return nil
}
