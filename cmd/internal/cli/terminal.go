package cli

import (
	"io"
	"os"
	"strconv"

	"github.com/charmbracelet/x/term"
	"github.com/mattn/go-isatty"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// terminalSize returns the columns and lines of a terminal: from the terminal, else from COLUMNS and LINES, else 80 and
// 24.
func terminalSize(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		columns, rows, _ = term.GetSize(f.Fd())
	}
	number := func(size int, name string, otherwise int) int {
		if size > 0 {
			return size
		}
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	return number(columns, "COLUMNS", 80), number(rows, "LINES", 24)
}
