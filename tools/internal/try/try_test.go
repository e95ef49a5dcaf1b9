package try_test

import (
	"errors"
	"io"
	"testing"

	"github.com/desynctool/desynctool/tools/internal/try"
)

func TestCatch(t *testing.T) {
	run := func(step func()) (err error) {
		defer try.Catch(&err)
		step()
		return nil
	}
	if err := run(func() { try.Check(nil) }); err != nil {
		t.Errorf("nothing failed: %v", err)
	}
	if err := run(func() { try.Get(1, io.EOF) }); err != io.EOF {
		t.Errorf("the error of a step is %v, expected %v", err, io.EOF)
	}
	if err := run(func() { panic(try.Failed("of %w", io.EOF)) }); !errors.Is(err, io.EOF) || err.Error() != "of EOF" {
		t.Errorf("a reason to end is %v", err)
	}
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("another panic is %v", p)
		}
	}()
	_ = run(func() { panic("other") })
}
