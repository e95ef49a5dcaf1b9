package clitest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/desynctool/desynctool/cmd/internal/cli"
)

// documents is the environment variable that names the folder in which commands leave the JSON documents they write.
const documents = "DESYNCTOOL_TEST_DOCUMENTS"

// Main runs the tests of a program, and is the main function of the programs that these tests start. After the tests
// it checks every JSON document that a command wrote against the schemas in docs/. Another process checks the
// documents: the tests start a program hundreds of times, and the library of schemas would double the time of each
// start.
func Main(m testscript.TestingM, programs map[string]func()) { testscript.Main(checked{m}, programs) }

type checked struct{ testscript.TestingM }

func (c checked) Run() int {
	folder, err := os.MkdirTemp("", "documents-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	os.Setenv(documents, folder)
	status := c.TestingM.Run()
	if left, err := filepath.Glob(filepath.Join(folder, "*.json")); err == nil && len(left) == 0 {
		return status
	}
	check := exec.Command("go", "run", "github.com/desynctool/desynctool/cmd/internal/cli/clitest/validate", filepath.Join("..", "..", "docs"), folder)
	if out, err := check.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: documents and their schemas: %v\n%s", err, out)
		return max(status, 1)
	}
	return status
}

// Checked is the main function of a program for tests. It leaves every JSON document that a command writes for Main.
func Checked(p cli.Program) {
	cli.TuneProcess()
	args := os.Args[1:]
	stdout, files := documentsOf(args)
	var out io.Writer = os.Stdout
	var copied bytes.Buffer
	if stdout {
		out = io.MultiWriter(os.Stdout, &copied)
	}
	status := cli.Run(p, args, os.Stdin, out, os.Stderr)
	Leave(copied.Bytes(), args)
	for _, file := range files {
		if stat, err := os.Stat(file); err != nil || !stat.Mode().IsRegular() { // /dev/full never ends
			continue
		}
		if b, err := os.ReadFile(file); err == nil {
			Leave(b, args)
		}
	}
	os.Exit(status)
}

// Leave leaves a document for Main to check, with the words of the command that wrote it. It leaves nothing for an
// empty document.
func Leave(document []byte, args []string) {
	folder := os.Getenv(documents)
	if folder == "" || len(document) == 0 {
		return
	}
	name := filepath.Join(folder, fmt.Sprintf("%x", sha256.Sum256(document)))
	err := os.WriteFile(name+".args", []byte(strings.Join(args, " ")), 0o666)
	if err == nil {
		part := fmt.Sprintf("%s.%d", name, os.Getpid()) // tests kill programs, which must not leave incomplete documents
		if err = os.WriteFile(part, document, 0o666); err == nil {
			err = os.Rename(part, name+".json")
		}
	}
	if err != nil {
		panic(err)
	}
}

// documentsOf returns whether a command line requests JSON on stdout, and the files that it requests.
func documentsOf(args []string) (stdout bool, files []string) {
	for i, arg := range args {
		value, found := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, found = args[i+1], true
		}
		switch file, toFile := strings.CutPrefix(value, "json="); {
		case !found:
		case toFile:
			files = append(files, file)
		case value == "json":
			stdout = true
		}
	}
	return stdout, files
}
