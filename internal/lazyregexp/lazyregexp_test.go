package lazyregexp

import (
	"reflect"
	"regexp"
	"testing"
)

// The methods equal the methods of regexp.Regexp, by name and type.
func TestMethods(t *testing.T) {
	lazy, whole := reflect.TypeFor[*Regexp](), reflect.TypeFor[*regexp.Regexp]()
	for i := range lazy.NumMethod() {
		m := lazy.Method(i)
		of, ok := whole.MethodByName(m.Name)
		if !ok {
			t.Errorf("regexp.Regexp has no method %s", m.Name)
			continue
		}
		for k := 1; k < m.Type.NumIn(); k++ {
			if m.Type.In(k) != of.Type.In(k) {
				t.Errorf("%s is %s, expected %s", m.Name, m.Type, of.Type)
			}
		}
	}
}

// One that is none is noticed by any test of its package.
func TestMalformed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression was not compiled")
		}
	}()
	New("(")
}

func TestCompiledOnce(t *testing.T) {
	r := New("^(a+)b$")
	if got := r.FindStringSubmatch("aab"); !reflect.DeepEqual(got, []string{"aab", "aa"}) || !r.MatchString("ab") {
		t.Errorf("%q", got)
	}
}
