package snapshot

// A .snap itself declares which tables are the state and which are caches or noise, and no root covers the latter. One
// peer may declare data as noise that the game of another peer depends on.

// ClassChange is a label under which two states have tables of different classes. One state treats the data as
// authoritative, the other does not.
type ClassChange struct {
	Label string
	A, B  Class
}

// CompareClasses returns two lists: the labels of noise tables that differ or that only one state has, and the labels
// for which each state has a class that the other lacks.
func CompareClasses(a, b *Info) (noisy []string, changes []ClassChange) {
	var onlyA, onlyB []*TableInfo
	for i, j := range pairTables(a.Tables, b.Tables) {
		var one *TableInfo
		switch {
		case i < 0:
			one = &b.Tables[j]
			onlyB = append(onlyB, one)
		case j < 0:
			one = &a.Tables[i]
			onlyA = append(onlyA, one)
		case a.Tables[i].Class == Noise && !sameTable(&a.Tables[i], &b.Tables[j]):
			noisy = append(noisy, a.Tables[i].Label)
		}
		if one != nil && one.Class == Noise {
			noisy = append(noisy, one.Label)
		}
	}
	if len(onlyA) == 0 || len(onlyB) == 0 {
		return noisy, nil
	}
	other := make(map[string]Class, len(onlyB))
	for _, t := range onlyB {
		other[t.Label] = t.Class
	}
	for _, t := range onlyA {
		if class, ok := other[t.Label]; ok {
			changes = append(changes, ClassChange{t.Label, t.Class, class})
		}
	}
	return noisy, changes
}
