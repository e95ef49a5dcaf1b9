package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

func Example() {
	notes := frame.Format{Name: "notebook", Magic: "\x89NOTES\r\n", Version: 1}

	var file bytes.Buffer
	w, _ := frame.NewWriter(&file, notes, frame.WriterOptions{})
	w.WriteFrame(1, []byte("first"))
	w.WriteFrame(1, []byte("second"))
	w.Close()

	// A crash cut the last 30 bytes off.
	r, _ := frame.NewReader(bytes.NewReader(file.Bytes()[:file.Len()-30]), "notes.bin", notes)
	for {
		kind, payload, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(errors.Is(err, frame.ErrTorn), err)
			break
		}
		fmt.Println(kind, string(payload))
	}
	// Output:
	// 1 first
	// true notes.bin: torn at offset 37, bytes lost: 16: file ends inside a frame of 6 bytes
}
