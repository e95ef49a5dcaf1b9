package archive

import (
	"fmt"
	"io/fs"
)

// dense refuses a file if most of it was never written: its name and size cost nothing, but reading it does. The
// proportion is the same as for archives.
func (l *Options) dense(info fs.FileInfo) error {
	if info == nil || !info.Mode().IsRegular() || info.Size() <= l.Free {
		return nil // the code that reads it will report that
	}
	if held, known := allocated(info); known && info.Size()/l.Ratio > held {
		return fmt.Errorf("%d bytes, and the disk holds %d of them: a sparse file, which is not read", info.Size(), held)
	}
	return nil
}
