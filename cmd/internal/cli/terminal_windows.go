package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesColours has a console show colours, and reports whether it does. What is not a console, as a terminal of Cygwin,
// does by itself.
func takesColours(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) != nil ||
		windows.SetConsoleMode(console, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
