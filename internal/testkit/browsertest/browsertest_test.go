package browsertest_test

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/desynctool/desynctool/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// TestWindow: the content, the actions and the requests of a page are seen.
func TestWindow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/loud" {
			_, _ = w.Write([]byte(`<!DOCTYPE html><html lang="en"><title>loud</title><script>console.log("one"); fetch("/two"); throw Error("three");</script>`))
			return
		}
		_, _ = w.Write([]byte(`<!DOCTYPE html><html lang="en"><meta name="color-scheme" content="light dark"><title>quiet</title><p>text`))
	}))
	defer server.Close()
	w := struct {
		*browsertest.Window
		name string
	}{browsertest.Open(t), "embedded"}
	pictures := t.TempDir()
	t.Setenv(browsertest.PicturesVariable, pictures)
	w.Do(chromedp.Navigate(server.URL + "/quiet"))
	w.Quiet(func(address string) bool {
		return address == server.URL+"/quiet" || strings.HasSuffix(address, "/favicon.ico")
	})
	w.Look(360, "dark")
	if got := browsertest.Eval[int](w, `Promise.resolve(innerWidth)`); got != 360 {
		t.Errorf("the window is %d wide, expected 360", got)
	}
	if !browsertest.Eval[bool](w, `matchMedia("(prefers-color-scheme: dark)").matches`) {
		t.Error("the system does not prefer dark colours")
	}
	shot := w.Picture("quiet")
	if kept, err := os.ReadFile(filepath.Join(pictures, "quiet.png")); err != nil || !bytes.Equal(kept, shot) {
		t.Errorf("%d bytes are kept, %v", len(kept), err)
	}
	if picture, err := png.Decode(bytes.NewReader(shot)); err != nil || picture.Bounds().Dx() != 360 {
		t.Errorf("the picture is %v, %v", picture, err)
	}
	w.Forget()
	w.Do(chromedp.Navigate(server.URL + "/loud"))
	w.Until(`document.title === "loud"`)
	trouble := strings.Join(w.Trouble(), "\n")
	if !strings.Contains(trouble, "console: ") || !strings.Contains(trouble, "exception: ") {
		t.Errorf("the trouble is %q", trouble)
	}
	if got := w.Requests(); slices.Contains(got, server.URL+"/quiet") || !slices.Contains(got, server.URL+"/two") {
		t.Errorf("the requests are %q", got)
	}
}
