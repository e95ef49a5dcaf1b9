package zeroad_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/engines/zeroad"
)

// standIn is how the test binary plays the engine, when it is started as one: it prints what 0.0.26 has printed,
// recorded in testdata/printed.txt, for each hash that the file asks for.
type standIn struct {
	Version string
	Printed string   // the recorded output
	Loaded  []string // mods, if it warns that others are wanted
	Crash   int      // after this turn it is killed
	Stop    int      // after this turn it exits
	Fail    string   // after this turn the engine has this assertion fail
	FailAt  int
	Wait    bool // where it asks what to do then, it waits for an answer
	Silent  bool
	Test    bool // it writes what a failed serialization test writes
}

const settingsName = "standin.json"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "-version" || strings.HasPrefix(os.Args[1], "-replay=")) {
		if err := pyrogenesis(os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func pyrogenesis(args []string) error {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[0]), settingsName))
	if err != nil {
		return err
	}
	var s standIn
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if args[0] == "-version" {
		fmt.Println(s.Version)
		return nil
	}
	if s.Silent {
		return nil
	}
	says, err := computedBy(s.Printed)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(strings.TrimPrefix(args[0], "-replay="))
	if err != nil {
		return err
	}
	if err := os.WriteFile("arguments.txt", []byte(strings.Join(args[1:], "\n")), 0o666); err != nil {
		return err
	}
	if s.Loaded != nil {
		fmt.Println("WARNING: Incompatible replay mods detected.\nThe mods of the replay are:\npublic (0.0.26)\nother (1)\n\nThese mods are enabled:")
		for _, m := range s.Loaded {
			fmt.Printf("%s (0.0.26)\n", m)
		}
		fmt.Println()
	}
	fmt.Println("GAME STARTED, ALL INIT COMPLETE")
	dumps := bytes.Contains([]byte(strings.Join(args, " ")), []byte("-ooslog"))
	turn := -1
	for line := range strings.Lines(string(log)) {
		words := strings.Fields(line)
		switch words[0] {
		case "turn":
			fmt.Sscan(words[1], &turn)
			fmt.Printf("Turn %s (%s)...\n", words[1], words[2])
		case "end":
			if dumps {
				if err := dump(turn); err != nil {
					return err
				}
			}
		case "hash", "hash-quick":
			is := says[fmt.Sprint(words[0], turn)]
			if is == words[1] {
				fmt.Printf("%s ok (%s)\n", words[0], is)
			} else {
				fmt.Printf("%s MISMATCH (%s != %s)\n", words[0], is, words[1])
			}
		}
		if words[0] == "end" && s.end(turn) {
			return nil
		}
	}
	fmt.Println("# Final state: b58afd80548c7da71900ea627b15a106")
	return nil
}

// end reports whether the engine ends after a turn.
func (s *standIn) end(turn int) bool {
	if s.Crash > 0 && turn == s.Crash {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		time.Sleep(time.Minute)
		fmt.Println(err)
	}
	if s.Fail != "" && turn == s.FailAt {
		if s.Test {
			dir := filepath.Join("serializationtest", "2026-01-01_0001")
			fmt.Println("Writing serializationtest-data to " + dir)
			os.MkdirAll(dir, 0o777)
			for _, end := range []string{"a", "b"} {
				os.WriteFile(filepath.Join(dir, "hash.after."+end), []byte(strings.Repeat(end, 32)), 0o666)
				os.WriteFile(filepath.Join(dir, "debug.after."+end), []byte("rng: \"1\"\nentities:\n"), 0o666)
			}
		}
		fmt.Print("Unable to open crashlog.txt for writing (please ensure the log directory is writable)\nLocation: debug.cpp:195 (debug_WriteCrashlog)\n\nCall stack:\n\n")
		time.Sleep(100 * time.Millisecond) // it is not ended here
		fmt.Println(s.Fail)
		fmt.Print("(C)ontinue, (S)uppress, (B)reak, Launch (D)ebugger, or (E)xit?\n")
		if s.Wait {
			time.Sleep(time.Minute)
		}
		return true
	}
	return s.Stop > 0 && turn == s.Stop
}

// dump writes the state after a turn as the engine does.
func dump(turn int) error {
	dir := filepath.Join("oos_logs", "2026-01-01_0001")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, ext := range []string{"txt", "dat"} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.%s", turn, ext)), fmt.Appendf(nil, "State hash: %032x\n", turn), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// computedBy returns the hashes in an output that was recorded, by kind and turn.
func computedBy(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	turn := uint64(0)
	in := bufio.NewScanner(f)
	for in.Scan() {
		if at, ok := zeroad.ParseTurn(in.Bytes()); ok {
			turn = at
		} else if h, ok := zeroad.ParseHash(in.Bytes()); ok {
			kind := "hash"
			if h.Quick {
				kind = "hash-quick"
			}
			out[fmt.Sprint(kind, turn)] = string(h.Computed)
		}
	}
	return out, in.Err()
}
