package formats

import "testing"

// TestColumns: the columns of a table with names are the peers if two of them have the same checksum in a row.
func TestColumns(t *testing.T) {
	for text, want := range map[string]bool{
		"tick;seed;draws\n3;3747c566;67\n6;8932c9b8;99\n9;16613c39;138\n":                      true,
		"tick,hp,x,y\n1,40,3,3\n2,40,1,1\n3,39,1,1\n4,39,2,2\n5,39,2,2\n":                      true, // small numbers
		"tick,units,shots\n1,40,0\n2,40,1\n3,39,1\n4,39,2\n5,39,2\n6,2,2\n7,39,3\n8,39,3\n":    true,
		"tick,ann,bob\n1,aaaa1111,aaaa1111\n2,bbbb1111,bbbb1112\n3,cccc1111,cccc1112\n4,d,e\n": false,
		"tick,ann,bob,eve\n1,aa,ab,ac\n2,ba,bb,bb\n3,ca,cb,cb\n4,da,db,db\n":                   false,
		// each peer has a column for every value
		"turn,Host mana,Guest mana,Host hp,Guest hp\n1,21,21,90,90\n2,22,22,89,89\n3,23,23,88,88\n4,24,24,87,87\n5,25,25,86,86\n": true,
		"1,aaaa1111,aaaa1112\n2,bbbb1111,bbbb1112\n3,cccc1111,cccc1112\n4,dddd1111,dddd1112\n":                                    false, // without names
		"tick,sum\n1,aaaa1111\n2,bbbb1111\n3,cccc1111\n4,dddd1111\n":                                                              false,
		"tick,ann,bob\n1,aaaa1111,aaaa1112\n2,bbbb1111,bbbb1112\n":                                                                false, // few rows
	} {
		if got := unlikeColumns([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
