package files

import "sync"

// Counted is a file that reports how many bytes each of its reads returned. Of mapped bytes each counts once, however
// often it is mapped. Its pointer is the File: it can be compared.
type Counted struct {
	File
	Count func(n int)

	mu     sync.Mutex
	mapped map[int64]int // bytes that are counted of each MapUnit
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

// Map implements Mapper.
func (c *Counted) Map(begin int64, length int) ([]byte, error) {
	b, err := Map(c.File, begin, length)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mapped == nil {
		c.mapped = map[int64]int{}
	}
	for ; length > 0; begin, length = begin+MapUnit, length-MapUnit {
		if n := min(length, MapUnit); n > c.mapped[begin] {
			c.Count(n - c.mapped[begin])
			c.mapped[begin] = n
		}
	}
	return b, nil
}
