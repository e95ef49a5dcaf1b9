//go:build !unix

package files

// OpenUnpolled opens a regular file for reading.
func OpenUnpolled(path string) (File, error) { return Disk.Open(path) }
