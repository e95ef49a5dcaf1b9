package parallel_test

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/desynctool/desynctool/internal/parallel"
)

// A panic is recovered from where the functions are waited for, after all of them have ended.
func Example() {
	var ended atomic.Int64
	defer func() {
		p := recover().(*parallel.Panic)
		fmt.Println(p.Value, ended.Load(), strings.Contains(p.Error(), "goroutine"))
	}()
	var g parallel.Group
	g.Go(func() { panic("a mistake") })
	g.Go(func() { ended.Add(1) })
	g.Wait()
	// Output: a mistake 1 true
}
