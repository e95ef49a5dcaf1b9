package render_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/report/document"
)

func ExampleGroups() {
	list := &desk.GroupList{Total: 1, Groups: []desk.Group{{
		Code: "3f9a2c12", Game: "arena", Title: "arena: first differs after Combat", State: desk.GroupOpen, Reports: 17, OfGame: 40, FirstBuild: "1.4.0", LastBuild: "1.4.2",
	}}}
	if err := render.Groups(desk.Filter{}, desk.ByReports, list, 0).Write(os.Stdout, "text", document.NewStyle(false)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Code      Matches  Share  Trend  Group
	// 3f9a2c12  17       42 %          arena: first differs after Combat
	//           builds 1.4.0 to 1.4.2
	//   1 of 1 group.
}
