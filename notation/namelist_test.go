package notation

import (
	"fmt"
	"testing"
)

func TestNamelist(t *testing.T) {
	n := namelistNotation()
	// As gfortran and ifort write namelists, with what the standard allows to read.
	parses(t, n, " &WORLD\n ITURN=           1,\n WIND=  212.50000000000000     ,\n HOT= .TRUE.,\n NAME='O''NEIL    ',\n POS=  7.1,  -2.5D+03, 3*.5, 2*, 4,\n /\n ! a comment\n"+
		"&ship idx=1 crew(2)%age=31, a(1:2)=5,6, z=(1.0,2.0), e=T /\n$SHIP\n IDX = 2\n S = \"a/b, &c\"\n$END\n",
		`{ "WORLD"+ { "ITURN": number(1) "WIND": number(212.50000000000000) "HOT": bool(true) "NAME": text(O'NEIL) "POS": [ number(7.1) number(-2.5E+03) number(0.5) number(0.5) number(0.5) null() null() number(4) end end `+
			`"ship"+ { "idx": number(1) "crew": { "2": { "age": number(31) end end "a": { "1:2": [ number(5) number(6) end end "z": text((1.0,2.0)) "e": bool(true) end `+
			`"SHIP"+ { "IDX": number(2) "S": text(a/b, &c) end end`)
	parses(t, n, "&A\n X=1,,2,\n Y=\n Z=NaN,\n/\n", `{ "A"+ { "X": [ number(1) null() number(2) end "Y": [ end "Z": number(nan) end end`)
	fails(t, n, "&A X=1 /", "at offset 8: the file ends inside the line after a group")
	fails(t, n, "&A\n X=1,\n", "at offset 9: the file ends inside a value")
	fails(t, n, "&A X='ab\n", "at offset 5: the file ends inside a text in quotes")
	fails(t, n, "&A X=1 / hello\n", `at offset 9: "hello\n", expected the begin of a group`)
	fails(t, n, "&A X=999999999*1 /\n", "at offset 16: more than 4 values that are repeated for each byte")
	fails(t, n, "&A X=0*1 /\n", `at offset 5: "0*1", expected a number of values`)
	sniffs(t, n, true, "&A\n X=1,\n Y=2,\n/\n", "! written by us\n &A X=1, 2 /\n")
	sniffs(t, n, false, "", "&A\n/\n", "& x = 5\n", "&a=1&b=2\n", "$A = 5;\n$B = 6;\n", "&A X=1 Y=2 hello\n", "&amp; x=1 y=2 /\n")
	if !n.Sniff([]byte("&A\n X=1,\n Y=2,\n/\n&A\n X"), false) {
		t.Error("a group that is cut")
	}
}

func FuzzNamelist(f *testing.F) {
	f.Add([]byte("&A X=1,2*.5D0, B(1)%C='d''e', F=(1,2) ! g\n/\n$B H=T $END\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, namelistNotation(), text) })
}

// TestNamelistTables: a table may follow a group, and a group with the tick begins the next document.
func TestNamelistTables(t *testing.T) {
	const step = " &clock\n  KTICK=%d,\n  HEAT=7.5D0,\n /\n CELL    RHO        U\n N1  1.5E+00 -2.D+00\n T   0.5E+00     ***\n"
	n := namelistNotation()
	parses(t, n, fmt.Sprintf(step, 5)+fmt.Sprintf(step, 10)+"\n FLUX  N\n EAST  3\n", `{ "clock"+ { "KTICK": number(5) "HEAT": number(7.5E0) end `+
		`"CELL"+ { "CELL": text(N1) "RHO": number(1.5E+00) "U": number(-2.0E+00) end "CELL"+ { "CELL": text(T) "RHO": number(0.5E+00) "U": text(***) end end `+
		`{ "clock"+ { "KTICK": number(10) "HEAT": number(7.5E0) end `+
		`"CELL"+ { "CELL": text(N1) "RHO": number(1.5E+00) "U": number(-2.0E+00) end "CELL"+ { "CELL": text(T) "RHO": number(0.5E+00) "U": text(***) end `+
		`"FLUX"+ { "FLUX": text(EAST) "N": number(3) end end`)
	sniffs(t, n, true, fmt.Sprintf(step, 5)+fmt.Sprintf(step, 10))
	sniffs(t, n, false, "&A X=1, Y=2 /\n all is done\n", "&A X=1, Y=2 /\n all is done\n and over now\n", "&A X=1, Y=2 /\n ID HP\n 7 3 4\n", "&A X=1, Y=2 /\n ID HP\n 7 3\n&A X=2, Y=2 /\n ID HP\n 7 3\n")
	fails(t, n, "&A TICK=1, Y=2 /\n ID HP\n 7 3\n 8 ", "at offset 29: the file ends inside a row of a table")
	fails(t, n, "&A TICK=1, Y=2 /\n ID HP\n", "at offset 18: the file ends inside a table")
}
