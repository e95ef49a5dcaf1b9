package web

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// report shows the triage's report of a match: as a page with links around it, or as JSON if the address ends in .json.
func (v *visit) report() error {
	text, isJSON := strings.CutSuffix(v.r.PathValue("id"), ".json")
	id, err := reportID(text)
	if err != nil {
		return err
	}
	r, err := v.document(id)
	if err != nil {
		return err
	}
	h := v.w.Header()
	var out bytes.Buffer
	if isJSON {
		h.Set("Content-Type", "application/json")
		err = document.WriteJSON(&out, r)
	} else {
		h.Set("Content-Type", "text/html; charset=utf-8")
		// The page has its own policy, which lets it load nothing. The parts of the policy that a page cannot contain
		// are sent here.
		h.Set("Content-Security-Policy", "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		in := page.Within{Theme: themeOf(v.r)}
		if in.Links, err = v.around(id); err == nil {
			err = page.WriteWithin(&out, r, in)
		}
	}
	if err != nil {
		return err
	}
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	out.WriteTo(v.w)
	return nil
}

// reportID parses the number of a report.
func reportID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, notFound("A report has a number, and " + strconv.Quote(text) + " is not one.")
	}
	return id, nil
}

// document returns the triage's report of a match.
func (v *visit) document(id int64) (*document.Report, error) {
	r, err := v.Store.Document(v.ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound(fmt.Sprintf("There is no report %d.", id))
	}
	return r, err
}

// download sends the stored content of a bundle.
func (v *visit) download() error {
	b, err := v.Store.Bundle(v.ctx, v.r.PathValue("hash"))
	if err != nil {
		return err
	}
	if v.Blob == nil || b.Kept == "" {
		return notFound("Nothing is kept of this bundle.")
	}
	r, name, err := v.Blob(v.ctx, b)
	if err != nil {
		return err
	}
	defer r.Close()
	h := v.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	v.w.WriteHeader(http.StatusOK)
	_, err = io.Copy(v.w, r)
	if err != nil {
		v.Log.Warn("a bundle was not sent whole", "bundle", b.Hash, "error", err)
		panic(http.ErrAbortHandler) // shows the client that the download broke off
	}
	return nil
}

// around returns links to related pages of a report.
func (v *visit) around(id int64) ([]page.Link, error) {
	r, err := v.Store.ReportByName(v.ctx, strconv.FormatInt(id, 10))
	if err != nil {
		return nil, err
	}
	links := []page.Link{{Text: "Desk", To: "/"}}
	if r.Group != "" {
		links = append(links, page.Link{Text: "Group " + r.Group, To: "/groups/" + r.Group})
	}
	links = append(links, page.Link{Text: "JSON", To: fmt.Sprintf("/reports/%d.json", id)})
	if v.Blob != nil {
		links = append(links, page.Link{Text: "Bundle", To: "/bundles/" + r.Bundle + "/download"})
	}
	return append(links, page.Link{Text: "Compare", To: fmt.Sprintf("/compare?a=%d", id)}), nil
}
