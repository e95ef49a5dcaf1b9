package files

// Counted is a file that reports how many bytes each of its reads returned. Its pointer is the File: it can be compared.
type Counted struct {
	File
	Count func(n int)
}

// Read implements io.Reader.
func (c *Counted) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.Count(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (c *Counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.Count(n)
	return n, err
}
