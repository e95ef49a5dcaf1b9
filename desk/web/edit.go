package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/desk"
)

// edit changes a group as requested by a form. It answers with the group's page, which describes the edit and has a
// form that reverts it.
func (v *visit) edit() error {
	code, form := v.r.PathValue("code"), v.r.PostForm
	e := &desk.Editor{Store: v.Store, Who: v.who.Name}
	var done desk.Done
	var err error
	switch v.r.PathValue("edit") {
	case "name":
		done, err = e.Name(v.ctx, code, form.Get("name"))
	case "note":
		done, err = e.Note(v.ctx, code, form.Get("note"))
	case "link":
		done, err = e.Link(v.ctx, code, strings.TrimSpace(form.Get("address")))
	case "close":
		done, err = e.CloseGroup(v.ctx, code, strings.TrimSpace(form.Get("build")))
	case "ignore":
		done, err = e.Ignore(v.ctx, code)
	case "reopen":
		done, err = e.Reopen(v.ctx, code)
	case "merge":
		done, err = e.Merge(v.ctx, code, strings.TrimSpace(form.Get("into")))
	case "split":
		var variants []int64
		if variants, err = numbers(form["variant"]); err == nil {
			done, err = e.Split(v.ctx, code, variants)
		}
	default:
		err = notFound("There is no such form.")
	}
	return v.done(done, err)
}

// undo reverts an edit.
func (v *visit) undo() error {
	list, err := numbers(v.r.PostForm["event"])
	if err != nil || len(list) != 1 || list[0] < 1 {
		return badRequest("An undo names one event.")
	}
	e := &desk.Editor{Store: v.Store, Who: v.who.Name}
	return v.done(e.Undo(v.ctx, list[0]))
}

// done answers an edit.
func (v *visit) done(d desk.Done, err error) error {
	var unknown *desk.UnknownGroupError
	var f *failure
	switch {
	case err == nil:
		http.Redirect(v.w, v.r, fmt.Sprintf("/groups/%s?done=%d", d.Group, d.Event), http.StatusSeeOther)
		return nil
	case errors.As(err, &f):
		return err
	case errors.As(err, &unknown):
		return unknownGroup(unknown, " Nothing was changed.")
	case errors.Unwrap(err) == nil: // a refusal; an error of the database is wrapped
		return &failure{http.StatusConflict, "Nothing was changed: " + err.Error() + "."}
	}
	return err
}

// maxNumbers is how many variants a form may contain.
const maxNumbers = 1000

func numbers(texts []string) ([]int64, error) {
	if len(texts) > maxNumbers {
		return nil, badRequest(fmt.Sprintf("A form names at most %d variants.", maxNumbers))
	}
	var list []int64
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, badRequest(strconv.Quote(text) + " is not a number.")
		}
		list = append(list, n)
	}
	return list, nil
}
