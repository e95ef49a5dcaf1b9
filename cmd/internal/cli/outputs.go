package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Outputs is the flag --format: formats, each with its file, "" for stdout. The first allowed format is the default.
type Outputs struct {
	Allowed []string
	List    []Output
}

// Output is one format with its file; "" for stdout.
type Output struct{ Format, File string }

func (o *Outputs) String() string { return "" }

func (o *Outputs) Type() string { return "FORMAT[=FILE]" }

func (o *Outputs) Set(s string) error {
	format, file, toFile := strings.Cut(s, "=")
	if !slices.Contains(o.Allowed, format) {
		return fmt.Errorf("expected %s%s", Alternatives(o.Allowed), prose.DidYouMean(format, o.Allowed))
	}
	if toFile && file == "" {
		return errors.New("expected a file after =")
	}
	for _, other := range o.List {
		switch {
		case other.File != file:
		case !toFile:
			return errors.New("two formats for stdout; write one of them to a file with FORMAT=FILE")
		default:
			return fmt.Errorf("two formats for %s", file)
		}
	}
	o.List = append(o.List, Output{format, file})
	return nil
}

// Wanted returns the formats to write. If none was requested, it is the default on stdout.
func (o *Outputs) Wanted() []Output {
	if len(o.List) == 0 {
		return []Output{{o.Allowed[0], ""}}
	}
	return o.List
}

// Each calls render for every output. Files come first, because the reader of stdout may stop at any time, which ends
// the process. If one cannot be written, the others are still written.
func (o *Outputs) Each(render func(out Output) error) error {
	list := slices.Clone(o.Wanted())
	lists.SortStable(list, func(a, b Output) int {
		switch {
		case a.File != "" && b.File == "":
			return -1
		case a.File == "" && b.File != "":
			return 1
		}
		return 0
	})
	var all error
	for _, out := range list {
		all = errors.Join(all, render(out))
	}
	return all
}

// Alternatives returns "a", or "a, b or c".
func Alternatives(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// OneOf returns the value of a flag that takes one of some words. name is the value's name in the help.
func OneOf[T ~string](value *T, name string, allowed ...T) pflag.Value {
	return oneOfFlag[T]{value, name, allowed}
}

type oneOfFlag[T ~string] struct {
	value   *T
	name    string
	allowed []T
}

func (f oneOfFlag[T]) String() string { return string(*f.value) }
func (f oneOfFlag[T]) Type() string   { return f.name }

func (f oneOfFlag[T]) words() []string {
	return lists.Map(f.allowed, func(w T) string { return string(w) })
}

func (f oneOfFlag[T]) Set(s string) error {
	if words := f.words(); !slices.Contains(words, s) {
		return fmt.Errorf("expected %s%s", Alternatives(words), prose.DidYouMean(s, words))
	}
	*f.value = T(s)
	return nil
}

// AddFormat adds the flag --format to a command.
func AddFormat(cmd *cobra.Command) *Outputs { return AddFormats(cmd, "text", "json") }

// AddFormats adds the flag --format with these formats, the default first.
func AddFormats(cmd *cobra.Command, allowed ...string) *Outputs {
	o := &Outputs{Allowed: allowed}
	named := slices.Clone(allowed)
	named[0] += " (the default)"
	cmd.Flags().VarP(o, "format", "f", Alternatives(named)+"; FORMAT=FILE writes to a file, and may be repeated")
	return o
}

// Render writes a result in every requested format, text or json. Reports have other formats, see RenderReport.
func (e *Env) Render(o *Outputs, text func(w io.Writer, s document.Style) error, of func() any) error {
	return o.Each(func(out Output) error {
		return e.RenderTo(out, func(w io.Writer, style document.Style) error {
			switch out.Format {
			case "text":
				return text(w, style)
			case "json":
				return document.WriteFilled(w, of())
			}
			return fmt.Errorf("--format %s: this result is written as text or json", out.Format)
		})
	})
}

// RenderDocument writes a document in every requested format.
func (e *Env) RenderDocument(o *Outputs, d document.Document, all bool) error {
	return o.Each(func(out Output) error {
		return e.RenderTo(out, func(w io.Writer, style document.Style) error {
			if out.Format == "json" {
				return d.JSON(w)
			}
			return d.Text(w, style, all)
		})
	})
}

// Finish writes a document, and ends the command with its status.
func (e *Env) Finish(o *Outputs, d document.Document, all bool) error {
	if err := e.RenderDocument(o, d, all); err != nil {
		return err
	}
	return Ended(d.Status)
}

// RenderTo lets write write to stdout or a file. Colours and the pager are used only on stdout, and only if it is a
// terminal.
func (e *Env) RenderTo(out Output, write func(w io.Writer, s document.Style) error) error {
	e.Rendered = true
	if out.File == "" {
		return e.Paged(func(w io.Writer) error { return write(w, e.Style(e.Stdout)) })
	}
	return files.Replace(out.File, func(f *os.File) error { return write(f, document.NewStyle(e.Color == "always")) })
}
