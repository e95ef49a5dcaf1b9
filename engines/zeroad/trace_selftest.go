package zeroad

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// testMoments are the moments of a turn at which -serializationtest and -rejointest compare two simulations, as in the
// names of files: after the second one has loaded the state of the first, and after both have played the turn.
var testMoments = []string{"before", "after"}

// maxHash is how long a file with a hash may be, in bytes.
const maxHash = 256

// ReadTest reads the folder that 0 A.D. writes when -serializationtest or -rejointest finds a difference,
// serializationtest/DATE_INDEX: hash.MOMENT.a and .b with the hashes of both simulations in hex, state.MOMENT.a and .b
// with their states in the engine's binary form, and debug.after.a and .b with both as text, if they diverge in the
// turn. MOMENT is before or after; a is the simulation that plays on, b the one that was loaded from its saved state.
// The turn is in none of them. It returns nil for any other folder, and an error for a hash that cannot be read.
func ReadTest(tree files.Tree, folder string) (*tracediff.ClaimLog, error) {
	names, err := tree.Names(folder)
	if err != nil {
		return nil, err
	}
	log := &tracediff.ClaimLog{File: folder, Dialect: tracediff.Dialect{Engine: "0 A.D.", File: "0 A.D. serialization test"}}
	began := false // with states that are known to be equal
	for _, moment := range testMoments {
		a, b := "."+moment+".a", "."+moment+".b"
		if !slices.Contains(names, "hash"+a) || !slices.Contains(names, "hash"+b) {
			continue
		}
		var values []tracediff.ClaimedValue
		for i, end := range []string{a, b} {
			hash, err := readHash(tree, filepath.Join(folder, "hash"+end))
			if err != nil {
				return nil, err
			}
			values = append(values, tracediff.ClaimedValue{Peer: [...]string{tracediff.FirstRun, tracediff.SecondRun}[i], Value: hash})
		}
		what := fmt.Sprintf("hash%s %s, hash%s %s", a, values[0].Value, b, values[1].Value)
		c := tracediff.Claim{File: filepath.Join(folder, "hash"+a), Text: what, SelfTest: true, Loaded: moment == "before", Began: began, Values: values}
		if !tracediff.EqualSums(values[0].Value, values[1].Value) {
			log.Claims = append(log.Claims, c)
			continue
		}
		// The states may differ where the hashes do not: the engine compares both.
		same, err := sameFiles(tree, filepath.Join(folder, "state"+a), filepath.Join(folder, "state"+b), names)
		if err != nil {
			return nil, err
		}
		if !same {
			c.Text, c.Values = fmt.Sprintf("state%s and state%s differ, their hashes are both %s", a, b, values[0].Value), nil
			log.Claims = append(log.Claims, c)
		}
		began = same
	}
	if len(log.Claims) == 0 {
		return nil, nil
	}
	return log, nil
}

func readHash(tree files.Tree, path string) (string, error) {
	f, err := tree.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHash+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if text = bytes.TrimSpace(text); !isHash(text) {
		return "", fmt.Errorf("%s: %.40q, expected a hash in hexadecimal digits", path, text)
	}
	return string(text), nil
}

// sameFiles reports whether two files of a folder have the same content. One that is not there is
// not known to differ.
func sameFiles(tree files.Tree, a, b string, names []string) (bool, error) {
	if !slices.Contains(names, filepath.Base(a)) || !slices.Contains(names, filepath.Base(b)) {
		return true, nil
	}
	x, err := tree.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := tree.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	const piece = 64 << 10
	p, q := make([]byte, piece), make([]byte, piece)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			return (errX == io.EOF || errX == io.ErrUnexpectedEOF) && (errY == io.EOF || errY == io.ErrUnexpectedEOF), nil
		}
	}
}
