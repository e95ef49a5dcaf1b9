package archive

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/file/files"
)

// dense refuses a file most of which was never written: its name and size cost nothing, but reading
// it does. The proportion is that of archives.
func (l *Options) dense(f files.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= l.Free {
		return nil // whoever reads it will say so
	}
	if held, known := allocated(info); known && info.Size()/l.Ratio > held {
		return fmt.Errorf("%d bytes, of which the disk holds %d: a sparse file, which is not read", info.Size(), held)
	}
	return nil
}
