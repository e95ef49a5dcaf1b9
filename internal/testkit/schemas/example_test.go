package schemas_test

import (
	"fmt"
	"reflect"

	"github.com/desynctool/desynctool/internal/testkit/schemas"
)

// The schema of a list of numbers that may be unknown.
func ExampleDefs_Of() {
	fmt.Printf("%s", schemas.Write(schemas.New(schemas.Root()).Of(reflect.TypeFor[[]*uint64]())))
	// Output:
	// {
	//   "items": {
	//     "anyOf": [{"minimum":0,"type":"integer"},{"type":"null"}]
	//   },
	//   "type": "array"
	// }
}
