package server_test

import (
	"fmt"

	"github.com/desynctool/desynctool/desk/server"
)

// A receiver of webhooks computes the signature of the body with its secret, and compares it with the
// header Desk-Signature.
func ExampleSign() {
	fmt.Println(server.Sign("key", []byte(`{"what":"new"}`)))
	// Output: sha256=59f4ad2f22e5a822e2e62afd191efcea5822a3b675ab2f9dcaf021ae2ff99c32
}

func ExampleCleanName() {
	fmt.Println(server.CleanName(`..\..\crash/report 7.zip`))
	// Output: report 7.zip
}
