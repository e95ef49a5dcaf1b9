package openttd_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/snapshot"
)

// The money of the first company, on both peers of a session in which the
// client's was changed.
func ExampleRead() {
	for _, peer := range []string{"server", "client"} {
		name := filepath.Join("../../testdata/openttd/money_poke", peer, "dmp_cmds_00000309_000adee0.sav")
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			log.Fatal(err)
		}
		w, err := openttd.Read(f, info.Size(), name)
		if err != nil {
			log.Fatal(err)
		}
		money := w.Table(snapshot.Archetype, "PLYR").Column("PLYR", "money")
		fmt.Printf("%s: seed %d, %s, RNG %x, money %d\n", peer, w.Seed, w.Point, w.RNG, money.Int(0))
	}
	// Output:
	// server: seed 777, 000adee0, RNG 2cab29c096fd8362, money 264123
	// client: seed 777, 000adee0, RNG 2cab29c096fd8362, money 83
}
