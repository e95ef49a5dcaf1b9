// Command validate checks the JSON documents in a folder against the project's schemas. The tests of the programs run
// it.
//
//	validate SCHEMAS DOCUMENTS
//
// SCHEMAS is the folder docs/. DOCUMENTS is a folder with a file NAME.json for each document, and a file NAME.args with
// the words of the command that wrote it. It prints each document that breaks its schema, and then exits with status 1.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: validate SCHEMAS DOCUMENTS")
		os.Exit(2)
	}
	broken, err := validate(os.Args[1], os.Args[2])
	for _, line := range broken {
		fmt.Println(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if len(broken) > 0 {
		os.Exit(1)
	}
}

// validate returns a text for each document that breaks its schema.
func validate(schemas, folder string) (broken []string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no documents (%v)", folder, err)
	}
	compiler := jsonschema.NewCompiler()
	for _, file := range files {
		document, err := os.ReadFile(file)
		if err != nil {
			return broken, err
		}
		if err := valid(compiler, schemas, document); err != nil {
			args, _ := os.ReadFile(strings.TrimSuffix(file, ".json") + ".args")
			broken = append(broken, fmt.Sprintf("desynctool %s: %v", args, err))
		}
	}
	return broken, nil
}

// valid checks a document against the schemas that apply to it. The compiler compiles each schema once.
func valid(compiler *jsonschema.Compiler, schemas string, document []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	by := func(name string, value any) error {
		schema, err := compiler.Compile(filepath.Join(schemas, name))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	if len(list) == 0 {
		return errors.New("an empty list")
	}
	for _, one := range list {
		for _, name := range []string{"document.schema.json", "documents.schema.json", "desk.schema.json"} {
			if err := by(name, one); err != nil {
				return err
			}
		}
	}
	first, _ := list[0].(map[string]any)
	if first["schema"] != "desynctool.triage/1" {
		return nil
	}
	if several {
		return by("triage-matches.schema.json", value)
	}
	return by("triage.schema.json", value)
}
