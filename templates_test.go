package desynctool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// issueForms are the forms, and the labels of the fields that a maintainer cannot do without.
var issueForms = map[string][]string{
	"bug.yml":     {"The output of `desynctool doctor PATH`", "The output of `desynctool version`", "What you expected"},
	"verdict.yml": {"The output of `desynctool doctor PATH`", "The report, or the bundle", "The truth"},
	"game.yml":    {"The files"},
}

// TestIssueForms: the forms are as GitHub reads them, and ask for what is needed.
func TestIssueForms(t *testing.T) {
	folder := filepath.Join(".github", "ISSUE_TEMPLATE")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	forms := 0
	for _, entry := range entries {
		if entry.Name() == "config.yml" {
			continue
		}
		forms++
		needed, ok := issueForms[entry.Name()]
		if !ok {
			t.Errorf("%s is in no list of this test", entry.Name())
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID    string
				Attributes  struct{ Label, Description, Value, Render string }
				Validations struct{ Required bool }
			}
		}
		parseYAML(t, filepath.Join(folder, entry.Name()), &form)
		if form.Name == "" || form.Description == "" {
			t.Errorf("%s has no name or no description", entry.Name())
		}
		var ids, labels []string
		for _, field := range form.Body {
			switch field.Type {
			case "markdown":
				if field.Attributes.Value == "" {
					t.Errorf("%s has an empty text", entry.Name())
				}
				continue
			case "input", "textarea":
			default:
				t.Errorf("%s has a field of type %q", entry.Name(), field.Type)
			}
			if field.ID == "" || slices.Contains(ids, field.ID) || field.Attributes.Label == "" || slices.Contains(labels, field.Attributes.Label) {
				t.Errorf("%s: field %q, %q has no id or label of its own", entry.Name(), field.ID, field.Attributes.Label)
			}
			ids, labels = append(ids, field.ID), append(labels, field.Attributes.Label)
		}
		for _, label := range needed {
			if !slices.Contains(labels, label) {
				t.Errorf("%s does not ask for %q", entry.Name(), label)
			}
		}
	}
	if forms != len(issueForms) {
		t.Errorf("%d forms, expected %d", forms, len(issueForms))
	}
	var config struct {
		Blank bool                                `yaml:"blank_issues_enabled"`
		Links []struct{ Name, URL, About string } `yaml:"contact_links"`
	}
	parseYAML(t, filepath.Join(folder, "config.yml"), &config)
	if len(config.Links) != 1 || !strings.HasSuffix(config.Links[0].URL, "/security/policy") || !strings.Contains(config.Links[0].About, "SECURITY.md") {
		t.Errorf("config.yml does not point to SECURITY.md: %v", config.Links)
	}
}

// parseYAML reads a file, which may have only the fields of into.
func parseYAML(t *testing.T, file string, into any) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoder := yaml.NewDecoder(f)
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// TestCommandsForReports: the commands, flags and files exist that SECURITY.md and the templates name.
func TestCommandsForReports(t *testing.T) {
	effort.Whole(t) // builds the programs
	pages, err := filepath.Glob(filepath.Join(".github", "ISSUE_TEMPLATE", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "SECURITY.md", filepath.Join(".github", "pull_request_template.md"))
	program := built(t)
	quoted := regexp.MustCompile("`([^`\n]+)`")
	file := regexp.MustCompile(`(?:docs/[-\w/]+(?:\.md)?|[A-Z]+\.md|\.ci/\w+)`)
	commands, files := 0, 0
	for _, page := range pages {
		text := readText(t, page)
		for _, name := range file.FindAllString(text, -1) {
			files++
			if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			rest, ok := strings.CutPrefix(m[1], "desynctool ")
			if !ok {
				continue
			}
			commands++
			var command, flags []string
			for _, word := range strings.Fields(rest) {
				switch {
				case strings.HasPrefix(word, "--"):
					flags = append(flags, word)
				case len(flags) == 0 && word == strings.ToLower(word):
					command = append(command, word)
				}
			}
			help, err := exec.Command(program, append(command, "--help")...).CombinedOutput()
			if err != nil || len(command) > 0 && !strings.Contains(string(help), "\n  desynctool "+strings.Join(command, " ")) {
				t.Errorf("%s names desynctool %s, which does not exist", page, strings.Join(command, " "))
			}
			for _, flag := range flags {
				if !regexp.MustCompile(`(?m)^ +(-\w, )?` + flag + `\b`).Match(help) {
					t.Errorf("%s names %s, which desynctool %s does not have", page, flag, strings.Join(command, " "))
				}
			}
		}
	}
	if commands < 10 || files < 8 {
		t.Errorf("only %d commands and %d files are named", commands, files)
	}
}
