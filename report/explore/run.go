package explore

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/desynctool/desynctool/report/document"
)

// ErrInterrupted is returned if the user ended it before there was anything to show.
var ErrInterrupted = errors.New("interrupted")

// Run shows the reports that load returns until the user ends it, and returns them. The input and the output are a
// terminal. If the user ends it while load works, load continues in the background, and the error is ErrInterrupted.
func Run(stdin io.Reader, stdout io.Writer, load Load, options Options) ([]*document.Report, error) {
	profile := colorprofile.ASCII
	if options.Color {
		profile = colorprofile.ANSI
	}
	return New(load, options).run(stdin, stdout, tea.WithColorProfile(profile))
}

func (m *Model) run(stdin io.Reader, stdout io.Writer, options ...tea.ProgramOption) ([]*document.Report, error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP) // which would end it without restoring the terminal
	defer stop()
	_, err := tea.NewProgram(m, append(options, tea.WithInput(stdin), tea.WithOutput(stdout), tea.WithContext(ctx))...).Run()
	switch {
	case m.err != nil:
		return nil, m.err
	case err != nil && !errors.Is(err, tea.ErrInterrupted) && ctx.Err() == nil:
		return nil, err
	case m.reports == nil:
		return nil, ErrInterrupted
	}
	return m.reports, nil
}

// ASCII reports whether to assume that a terminal has only ASCII characters, from the environment: its locale is not
// UTF-8, or it is the Linux console or a dumb terminal.
func ASCII(goos string, getenv func(string) string) bool {
	switch getenv("TERM") {
	case "linux", "dumb":
		return true
	}
	if goos == "windows" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}
