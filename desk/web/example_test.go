package web_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/web"
)

// The pages of a store, for anybody who reaches them.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "desk")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := desk.Open(context.Background(), dir, desk.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	pages, err := web.New(web.Config{Store: store, Of: func(*http.Request) web.Who { return web.Who{Name: "local", Read: true, Triage: true} }})
	if err != nil {
		log.Fatal(err)
	}
	answer := httptest.NewRecorder()
	pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	title := answer.Body.String()[strings.Index(answer.Body.String(), "<title>"):]
	fmt.Println(answer.Code, title[:strings.Index(title, "\n")])
	// Output: 200 <title>0 groups · desync desk</title>
}
