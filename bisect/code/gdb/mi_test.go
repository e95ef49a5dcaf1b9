package gdb

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// lines are what gdb 13.1 printed.
var lines = []string{
	`(gdb) `,
	`12^done`,
	`^error,msg="No symbol \"nosuch\" in current context.",code="undefined-command"`,
	`~"Reading symbols from ./sk...\n"`,
	`&"26\t../sysdeps/unix/sysv/linux/read.c: No such file or directory.\n"`,
	`7^done,memory=[{begin="0x00005555555787c8",offset="0x0000000000000000",end="0x00005555555787cc",contents="00000000"}]`,
	`*stopped,reason="watchpoint-trigger",wpt={number="2",exp="*(unsigned int*)0x5555555787c8"},value={old="40",new="31"},frame={addr="0x1",func="fire",args=[]},thread-id="1",stopped-threads="all"`,
	`^done,stack=[frame={level="0",addr="0x00007ffff7ecc2ad",func="fire",file="skirmish.c",line="129"},frame={level="1",addr="0x2",func="next"}]`,
	`=library-loaded,id="/lib64/ld-linux-x86-64.so.2",ranges=[{from="0x00007ffff7fcb060",to="0x00007ffff7ff0111"}]`,
	`^done,features=["frozen-varobjs","python"],empty=[],none={}`,
}

func TestParseRecord(t *testing.T) {
	for _, line := range lines {
		if _, err := parseRecord(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	r, err := parseRecord(lines[6])
	if err != nil {
		t.Fatal(err)
	}
	if r.kind != '*' || r.class != "stopped" || r.fields.str("reason") != "watchpoint-trigger" || r.fields.get("value").str("new") != "31" {
		t.Errorf("%+v", r)
	}
	r, _ = parseRecord(lines[7])
	if list := r.fields.get("stack").fields; len(list) != 2 || list[1].name != "frame" || list[1].str("func") != "next" {
		t.Errorf("%+v", r)
	}
	if r, _ := parseRecord(`~"\303\244 \\ \"\e"`); r.class != "ä \\ \"\x1b" {
		t.Errorf("%q", r.class)
	}
	for _, line := range []string{
		"", "12", "^", "hello", "(gdb)x", `^done,`, `^done,a`, `^done,a=`, `^done,a="`, `^done,a="\`, `^done,a="\9"`, `^done,a={`, `^done,a=[b="1",`,
		`^done,a="1"b`, `~"a"b`, `^done,a=` + strings.Repeat("[", 1000), `^done,="1"`,
	} {
		if r, err := parseRecord(line); err == nil {
			t.Errorf("%q is taken for %+v", line, r)
		}
	}
}

// FuzzParseRecord: a value that is written and read again is the same.
func FuzzParseRecord(f *testing.F) {
	for _, line := range lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := parseRecord(line)
		if err != nil || r.kind == 0 {
			return
		}
		text := r.token + string(r.kind)
		if strings.IndexByte("~@&", r.kind) >= 0 {
			text += quote(r.class)
		} else {
			text += r.class
			for _, field := range r.fields.fields {
				text += "," + field.name + "=" + written(field.value)
			}
		}
		again, err := parseRecord(text)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(r) && !reflect.DeepEqual(again, r) {
			t.Errorf("%q is read as %+v, and %q, which has the same values, as %+v, %v", line, r, text, again, err)
		}
	})
}

// written writes a value as gdb does.
func written(v value) string {
	if v.fields == nil {
		return quote(v.text)
	}
	var list []string
	for _, f := range v.fields {
		text := written(f.value)
		if f.name != "" {
			text = f.name + "=" + text
		}
		list = append(list, text)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestModules(t *testing.T) {
	m := parseMaps([]byte("555555554000-555555556000 r--p 00000000 08:01 1 /g/my game\n555555556000-555555558000 r-xp 00002000 08:01 1 /g/my game\n" +
		"555555578000-55555557c000 rw-p 00000000 00:00 0\n7ffff7fcb000-7ffff7ff0000 r-xp 00001000 08:01 2 /lib64/ld.so\nnonsense\n"))
	if path, offset := m.find(0, 0x555555556010); path != "/g/my game" || offset != 0x2010 {
		t.Errorf("%s + %#x", path, offset)
	}
	if len(m) != 3 || !system(m[2].path) || system(m[0].path) {
		t.Errorf("%+v", m)
	}
}
