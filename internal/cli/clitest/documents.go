package clitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/desynctool/desynctool/internal/cli"
)

// schemas is the environment variable that names the folder of the schemas.
const schemas = "DESYNCTOOL_TEST_SCHEMAS"

// Checked is the main function of a program for tests: it checks every JSON document that a command writes against
// its schema. A document that breaks the schema fails the command with status 99.
func Checked(p cli.Program) {
	cli.TuneMemory()
	args := os.Args[1:]
	stdout, documents := documentsOf(args)
	var out io.Writer = os.Stdout
	var copied bytes.Buffer
	if stdout {
		out = io.MultiWriter(os.Stdout, &copied)
	}
	status := cli.Run(p, args, os.Stdin, out, os.Stderr)
	folder := os.Getenv(schemas)
	if folder == "" {
		os.Exit(status)
	}
	var all []error
	if stdout && copied.Len() > 0 {
		all = append(all, Valid(folder, copied.Bytes()))
	}
	for _, file := range documents {
		if stat, err := os.Stat(file); err != nil || !stat.Mode().IsRegular() { // /dev/full never ends
			continue
		}
		if b, err := os.ReadFile(file); err == nil && len(b) > 0 {
			all = append(all, Valid(folder, b))
		}
	}
	if err := errors.Join(all...); err != nil {
		fmt.Fprintf(os.Stderr, "a document breaks its schema: %v\n", err)
		status = 99
	}
	os.Exit(status)
}

// documentsOf returns whether a command line asks for JSON on stdout, and the files that it
// asks for.
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

// Valid checks a document against the schemas in a folder that apply to it.
func Valid(folder string, document []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	var all []error
	for _, one := range list {
		all = append(all, validBy(folder, "document.schema.json", one))
	}
	if first, _ := list[0].(map[string]any); first["schema"] == "desynctool.triage/1" {
		name := "triage.schema.json"
		if several {
			name = "triage-matches.schema.json"
		}
		all = append(all, validBy(folder, name, value))
	}
	return errors.Join(all...)
}

func validBy(folder, name string, value any) error {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
