package notation

import "testing"

func TestSQL(t *testing.T) {
	n := sqlNotation()
	parses(t, n, "-- made\nCREATE TABLE IF NOT EXISTS public.\"u\" (\n  tick integer NOT NULL,\n  \"hp\" numeric(8, 2), PRIMARY KEY (tick), `x` int);\nINSERT INTO u VALUES (5, 1.50, NULL), (6, -2, 'it''s');\n",
		`[@0 {@146 "kind": text(u) "tick": bare(5) "hp": bare(1.50) "x": null() end@161 {@163 "kind": text(u) "tick": bare(6) "hp": bare(-2) "x": text(it's) end@179 end@181`)
	parses(t, n, "insert or ignore into a.b (k, v) values (true, now()::date), (1e-5, E'');", `[ { "kind": text(b) "k": bare(true) "v": bare(now) end { "kind": text(b) "k": bare(1e-5) "v": text() end end`)
	parses(t, n, "REPLACE INTO `t` VALUES (1,'a\\'b',X'0f');", `[ { "kind": text(t) "column 1": bare(1) "column 2": text(a\'b) "column 3": text(0f) end end`)
	parses(t, n, "COPY \"a\".\"b\" (k, v) FROM stdin;\n5\ta b\n6\t\\N\n\\.\n\nSELECT 1;\n", `[ { "kind": text(b) "k": bare(5) "v": bare(a b) end { "kind": text(b) "k": bare(6) "v": null() end end`)
	parses(t, n, "SET a = ';'; /* INSERT INTO t VALUES (1); */ DROP TABLE t;", `[ end`)
	fails(t, n, "INSERT INTO t VALUES (1, 'a", "at offset 25: the file ends inside a text in quotes")
	fails(t, n, "INSERT INTO t VALUES (1, 2", "at offset 22: the file ends inside parentheses")
	fails(t, n, "INSERT INTO t VALUES (1),", "at offset 25: the file ends inside a statement")
	fails(t, n, "COPY t (a) FROM stdin;\n1\n2", "at offset 25: the file ends inside the rows of COPY")
	sniffs(t, n, true, "INSERT INTO t VALUES (1);\n", "-- dump\nBEGIN;\nCREATE TABLE t (a int);\n", "/*!40101 SET NAMES utf8 */;\nINSERT INTO `t` (`a`) VALUES\n(1);", "SET x;\nCOPY public.t (a, b) FROM stdin;\n")
	sniffs(t, n, false, "", "Insert into the slot.\n", "select 1;\n", "12 INSERT INTO t VALUES (1);", "tick,hp\n1,2\n", "create a table (of wood)\n")
}

func FuzzSQL(f *testing.F) {
	f.Add([]byte("CREATE TABLE a.\"t\" (x int, `y` text);\nINSERT INTO t (x) VALUES (1, 'it''s'), (X'00', now());\nCOPY t FROM stdin;\n1\t\\N\n\\.\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, sqlNotation(), text) })
}
