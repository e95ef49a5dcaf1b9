package bundle

import (
	"errors"
	"testing"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// TestTroubleOnce: a limit that ends the reading of a file with many states is one trouble.
func TestTroubleOnce(t *testing.T) {
	var x examined
	for range 1000 {
		x.failed(limits.CPU.Reached("", 0))
	}
	x.failed(errors.New("at offset 3: damaged"))
	if len(x.Trouble) != 2 || x.Trouble[0].Kind != "limit" || x.Trouble[1].Kind != "corrupt" {
		t.Errorf("%+v", x.Trouble)
	}
}
