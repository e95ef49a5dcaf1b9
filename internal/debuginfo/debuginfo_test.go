package debuginfo

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

func Example() {
	_, err := Open(strings.NewReader("hello"))
	fmt.Println(err)
	// Output: not a program: expected an ELF, PE or Mach-O file
}

// TestBomb: a section that claims to unpack to more than the memory limit is refused before it is unpacked.
func TestBomb(t *testing.T) {
	bomb := section{".debug_info", 40, strings.NewReader("ZLIB\x00\x00\x7f\xff\xff\xff\xff\xff and so on")}
	if err := measure([]section{bomb}, ""); err == nil || !strings.Contains(err.Error(), "limit memory is reached") {
		t.Error(err)
	}
}

// FuzzProgram: no file makes a panic of a reader.
func FuzzProgram(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add([]byte("MZ\x90\x00"))
	f.Add([]byte("\xcf\xfa\xed\xfe\x00"))
	if self, err := os.Executable(); err == nil {
		if b, err := os.ReadFile(self); err == nil {
			f.Add(b[:4096])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = About(bytes.NewReader(b))
		_, _ = Symbols(bytes.NewReader(b))
		_, _ = Open(bytes.NewReader(b))
	})
}
