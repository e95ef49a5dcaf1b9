//go:build !windows

package cli

import "os"

// takesColours reports whether a terminal shows colours.
func takesColours(*os.File) bool { return true }
