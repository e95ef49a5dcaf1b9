package bytediff

import (
	"io"

	"github.com/desynctool/desynctool/internal/debuginfo"
)

// Program is the information that a program or library contains about itself.
type Program = debuginfo.Identity

// programsOf returns the information of two programs about themselves, nil if one of the files is not a program.
func programsOf(pair [2]File) *[2]Program {
	var out [2]Program
	for i, f := range pair {
		p, err := debuginfo.About(io.NewSectionReader(f, 0, f.Size))
		if err != nil {
			return nil
		}
		out[i] = p
	}
	return &out
}
