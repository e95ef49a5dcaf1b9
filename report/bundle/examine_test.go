package bundle

import (
	"errors"
	"os"
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
	_, err := os.Open("nowhere") // what the system refuses is not damaged
	x.failed(err)
	if len(x.Trouble) != 3 || x.Trouble[0].Kind != "limit" || x.Trouble[1].Kind != "corrupt" || x.Trouble[2].Kind != "not opened" {
		t.Errorf("%+v", x.Trouble)
	}
}
