package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/desynctool/desynctool/report/isolate"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata/script")

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == isolate.Command { // of a command line that runs in a test's process
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){"desynctool": checked, "game": game, "memoryLimits": memoryLimits, "terminal": terminal, "hostile-reader": hostileReader, "weighed": weighed})
}

// TestScript runs the transcripts in testdata/script. Each sees the project's
// corpus as $CORPUS and edits files with these commands:
//
//	cut FILE N         keep the first N bytes
//	flip FILE OFFSET   flip the lowest bit of one byte
//	sub FILE RE TEXT   replace what matches a regular expression
//	dump FILE TEXT     write the text twin of FILE to TEXT
//	await FILE N       wait until the file has N lines
//	status N           run: desynctool …, and expect exit status N
func TestScript(t *testing.T) {
	corpus, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(schemas, docs)
			// Transcripts name the corpus by a relative path.
			return os.Symlink(corpus, filepath.Join(env.WorkDir, "corpus"))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"await": await, "cut": cut,
			"rename": rename, "flip": flip, "status": status, "sub": sub, "dump": dump,
		},
	})
}
