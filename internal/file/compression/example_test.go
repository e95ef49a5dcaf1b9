package compression_test

import (
	"bufio"
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/internal/file/compression"
)

// The first line of a table, compressed or not.
func ExampleUnpack() {
	for _, name := range []string{"spring_pos_1ulp.csv", "spring_checksum_only.csv.gz"} {
		f, err := os.Open("../../../testdata/trace/" + name)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		content, packing, err := compression.Unpack(f, 1<<20)
		if err != nil {
			log.Fatal(err)
		}
		line, err := bufio.NewReader(content).ReadString('\n')
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q %s", packing, line)
	}
	// Output:
	// "" frame,player0,player1,player2
	// "gzip" frame,player0,player1,player2
}
