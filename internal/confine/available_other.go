//go:build !linux && !darwin

package confine

// available is not known on this system.
func available(string) (bytes int64, known bool) { return 0, false }
