package notation

import (
	"strings"
	"testing"
)

func TestBeginEnd(t *testing.T) {
	n := beginEndNotation()
	parses(t, n, "Begin Map Name=/Game/Arena\n   Begin Level NAME=Main\n      Begin Actor Class=/Script/Tanks.Tank Name=Tank_4 Archetype=Tank'/Game/T.Default__Tank'\n"+
		"         Begin Object Class=/Script/Engine.Mesh Name=\"Hull 1\"\n         End Object\n         Begin Object Name=\"Hull 1\"\n            Armour=50.500000\n         End Object\n"+
		"         Ammo(0)=12\n         Ammo(2)=3\n         Location=(X=1.0,Y=-2.5)\n         Tags=(\"a, b\",\"c\")\n         Empty=()\n         bReady=True\n         Target=None\n      End Actor\n   End Level\nEnd Map\n",
		`{ "Tank"+ { "#id": text(Tank_4) "#type": bare(/Script/Tanks.Tank) "Archetype": bare(Tank'/Game/T.Default__Tank') `+
			`"Hull 1": { "#type": bare(/Script/Engine.Mesh) end "Hull 1": { "Armour": bare(50.500000) end `+
			`"Ammo": { "0": bare(12) end "Ammo": { "2": bare(3) end "Location": { "X": bare(1.0) "Y": bare(-2.5) end "Tags": [ text(a, b) text(c) end "Empty": [ end "bReady": bool(true) "Target": null() end end`)
	// A brush of an old engine, and a form of Visual Basic.
	parses(t, n, "; exported\nBegin Brush Name=Model1\n  Begin PolyList\n    Begin Polygon Item=Side Link=3\n      Vertex   +00064.000000,-2\n      Vertex   +1,+2\n    End Polygon\n  End PolyList\nEnd Brush\n",
		`{ "Polygon"+ { "Item": bare(Side) "Link": bare(3) "Vertex"+ [ bare(+00064.000000) bare(-2) end "Vertex"+ [ bare(+1) bare(+2) end end end`)
	fails(t, n, "Begin Actor Class=A Name=B\n  x=1\nEnd Object\n", `at offset 33: "End Object", expected the end of the block that is open`)
	fails(t, n, "Begin Actor Class=A Name=B\n  x=(A=1,2)\nEnd Actor\n", `at offset 27: "(A=1,2)", expected that all values have names, or none`)
	fails(t, n, "Begin Actor Class=A Name=B\n  x=(A=(1)\nEnd Actor\n", `at offset 27: "(A=(1)", expected values in parentheses`)
	fails(t, n, "x=5\nBegin A\n", `at offset 0: "x=5", expected the begin of a block`)
	fails(t, n, "Begin A Class=B\n  x=5\n", `at offset 22: the file ends inside a block A`)
	fails(t, n, strings.Repeat("Begin A B=1\n", 200), "at offset 1536: more than 128 blocks within each other")
	fails(t, n, "Begin A\n x="+strings.Repeat("(", 300)+strings.Repeat(")", 300)+"\nEnd A\n", "at offset 8: more than 256 maps and lists within each other")
	sniffs(t, n, true, "Begin Object Class=/Script/A.B Name=\"C\"\n   x=1\n   y=2\nEnd Object\n")
	sniffs(t, n, false, "", "Begin\nEnd\n", "Begin Actor Name=A\nEnd Actor\n", "begin\n  x := 5;\n  y := 6;\nend\n", "Begin reading here\nx=5\ny=6\n", "Begin A\nx=1\ny=2\n", "Beginning x=1\ny=2\n")
}

func FuzzBeginEnd(f *testing.F) {
	f.Add([]byte("Begin A Class=B.C Name=\"D\"\n  Begin Object Name=E\n x(2)=(Y=1,Z=(\"a\",2))\nEnd Object\nv 1,2\nEnd A\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, beginEndNotation(), text) })
}
