package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
)

func newMan(root *cobra.Command) *cobra.Command {
	name, path := manName(root), root.CommandPath()
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: "man writes a page for each command, " + name + ".1, " + name + "-version.1 and so on, into the folder DIR. It" + `
creates DIR if necessary. The date of the pages is the date of the commit from
which this program was built.

Exit status: 0 on success, 2 if a file cannot be written.`,
		Example: "  " + path + " man ~/.local/share/man/man1\n  " + path + " man pages && man -l pages/" + name + "-version.1",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return doMan(cmd.Root(), args[0]) },
	}
}

func doMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	b := ThisBuild()
	return eachCommand(root, func(c *cobra.Command) error {
		if c.DisableFlagParsing { // another program runs it, and writes its page
			return nil
		}
		return files.Replace(filepath.Join(dir, manName(c)+".1"), func(f *os.File) error {
			_, err := f.Write(manPage(c, b))
			return err
		})
	})
}

// eachCommand calls do with a command and all of its subcommands.
func eachCommand(c *cobra.Command, do func(c *cobra.Command) error) error {
	if err := do(c); err != nil {
		return err
	}
	for _, sub := range listed(c) {
		if err := eachCommand(sub, do); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the subcommands in a command's help, without help itself.
func listed(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
		return !sub.IsAvailableCommand() || sub.Name() == "help"
	})
}

// manName returns the name of a command's page, desynctool-sim-check.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// roff builds a manual page with the macros of man(7).
type roff struct{ bytes.Buffer }

// manPage returns the manual page of a command. The help is plain text, so this parses it as such: paragraphs, indented
// examples, and lists with two columns.
func manPage(c *cobra.Command, b Build) []byte {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	date := ""
	if b.Date != nil {
		date, _, _ = strings.Cut(*b.Date, "T")
	}
	var r roff
	r.macro("TH", strings.ToUpper(manName(c)), "1", date, "desynctool "+b.Version, "desynctool")
	r.line(".nh") // no hyphens in commands and flags
	r.line(".ad l")
	r.macro("SH", "NAME")
	r.line(roffText(manName(c)) + ` \- ` + roffText(strings.ToLower(c.Short[:1])+c.Short[1:]))
	r.macro("SH", "SYNOPSIS")
	_, arguments, _ := strings.Cut(c.UseLine(), c.CommandPath())
	r.line(`\fB` + roffText(c.CommandPath()) + `\fR` + roffText(arguments))

	r.macro("SH", "DESCRIPTION")
	var exit []string
	for _, p := range paragraphs(filled(c.Long)) {
		if statuses, ok := strings.CutPrefix(p, "Exit status:"); ok {
			exit = append(exit, strings.TrimPrefix(strings.TrimPrefix(statuses, " "), "\n"))
		} else {
			r.paragraph(p)
		}
	}

	subs := listed(c)
	if len(subs) > 0 {
		r.macro("SH", "COMMANDS")
		for _, sub := range subs {
			r.item(sub.Name(), sub.Short)
		}
	}
	r.options(c.Name(), "OPTIONS", c.NonInheritedFlags())
	r.options(c.Name(), "GLOBAL OPTIONS", c.InheritedFlags())
	if len(exit) > 0 {
		r.macro("SH", "EXIT STATUS")
		for _, p := range exit {
			r.paragraph(p)
		}
	}
	if c.Example != "" {
		r.macro("SH", "EXAMPLES")
		r.verbatim(c.Example)
	}
	var also []string
	if c.HasParent() {
		also = append(also, manName(c.Parent()))
	}
	also = append(also, lists.Map(subs, manName)...)
	if len(also) > 0 {
		r.macro("SH", "SEE ALSO")
		for i, name := range also {
			comma := ","
			if i == len(also)-1 {
				comma = ""
			}
			r.line(".BR " + roffText(name) + " (1)" + comma)
		}
	}
	return r.Bytes()
}

// paragraphs splits a text at its blank lines.
func paragraphs(text string) []string {
	var out []string
	for p := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if p = strings.Trim(p, "\n"); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func indented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}

func (r *roff) line(s string) { r.WriteString(s + "\n") }

func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, a := range args {
		r.WriteString(` "` + strings.ReplaceAll(roffText(a), `"`, `\(dq`) + `"`)
	}
	r.WriteByte('\n')
}

// begin begins a paragraph. The first one below a heading needs no macro.
func (r *roff) begin() {
	lines := bytes.Split(r.Bytes(), []byte("\n"))
	if !bytes.HasPrefix(lines[len(lines)-2], []byte(".SH ")) {
		r.line(".PP")
	}
}

// paragraph writes lines to be filled, and the indented ones among them unchanged.
func (r *roff) paragraph(p string) {
	lines := strings.Split(p, "\n")
	for len(lines) > 0 {
		block := indented(lines[0])
		end := slices.IndexFunc(lines, func(line string) bool { return indented(line) != block })
		if end < 0 {
			end = len(lines)
		}
		if text := strings.Join(lines[:end], "\n"); block {
			r.block(text)
		} else {
			r.begin()
			r.prose(text)
		}
		lines = lines[end:]
	}
}

// entry matches a line of a list with two columns. The second column may be on the next line, indented further.
var entry = lazyregexp.New(`^  (\S+(?: \S+)*)(?:  +(\S.*))?$`)

// block writes an indented block: a list with two columns as such, everything else unchanged.
func (r *roff) block(text string) {
	type item struct{ term, text string }
	var items []item
	columns := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch m := entry.FindStringSubmatch(line); {
		case m != nil:
			items = append(items, item{m[1], m[2]})
			columns = columns || m[2] != ""
		case len(items) > 0 && strings.HasPrefix(line, "    "):
			items[len(items)-1].text += "\n" + strings.TrimSpace(line)
		default:
			r.verbatim(text)
			return
		}
	}
	if !columns || slices.ContainsFunc(items, func(it item) bool { return it.text == "" }) {
		r.verbatim(text)
		return
	}
	for _, it := range items {
		r.item(it.term, strings.TrimPrefix(it.text, "\n"))
	}
}

func (r *roff) item(term, text string) {
	r.line(".TP")
	r.line(`\fB` + roffText(term) + `\fR`)
	r.prose(text)
}

// verbatim writes lines unchanged, further to the right.
func (r *roff) verbatim(text string) {
	r.begin()
	r.line(".RS 4")
	r.line(".EX")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "\t") {
			line = line[1:]
		} else {
			line = strings.TrimPrefix(line, "  ")
		}
		r.line(roffLine(roffText(line)))
	}
	r.line(".EE")
	r.line(".RE")
}

// flagWord matches a flag in a sentence, escaped.
var flagWord = lazyregexp.New(`(^|[ (])(\\-\\-[a-z]+(?:\\-[a-z]+)*)`)

// prose writes lines that are filled, with flags in bold.
func (r *roff) prose(text string) {
	for line := range strings.Lines(text) {
		line = roffText(strings.TrimSpace(line))
		r.line(roffLine(flagWord.ReplaceAllString(line, `$1\fB$2\fR`)))
	}
}

func (r *roff) options(command, heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	r.macro("SH", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(naming(command, f))
		name := `\fB` + roffText("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + roffText("-"+f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + roffText(value) + `\fR`
		}
		r.line(".TP")
		r.line(name)
		switch f.DefValue {
		case "", "0", "0s", "[]", "false":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		r.prose(usage)
	})
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roffText escapes characters that troff would interpret or replace, and all that are not ASCII.
func roffText(s string) string {
	var b strings.Builder
	for _, c := range roffEscapes.Replace(s) {
		if c < utf8.RuneSelf {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, c)
		}
	}
	return b.String()
}

// roffLine escapes a line of text that troff would treat as a macro.
func roffLine(s string) string {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "\t") {
		return `\&` + s
	}
	return s
}
