package desk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/prose"
)

// Forgotten is what Forget has deleted, or would delete, and what it found and left.
type Forgotten struct {
	DryRun  bool `json:"dry_run"`
	Reports int  `json:"reports"` // in which the player was a peer, with their documents
	Bundles int  `json:"bundles"` // whose content is deleted, that had such a report
	Rows    int  `json:"rows"`    // of those the ones that are deleted whole: no other match was in them
	Names   int  `json:"names"`   // of bundles, receipts and uploads that had the name in them
	Facts   int  `json:"facts"`   // values that files stated, with the name in them
	// Mentions are reports of others that have the name in their text, Events and Groups what
	// people wrote with it. They stay.
	Mentions []Mention `json:"mentions"`
	Events   []int64   `json:"events"`
	Groups   []string  `json:"groups"`
	// Unread are blobs that other bundles have: what is in them was not looked into.
	Unread int64 `json:"unread"`
}

// Mention is a match whose document has a name in it.
type Mention struct {
	Bundle string `json:"bundle"` // hash
	Match  int    `json:"match"`  // from 1
}

// Forgot is what the event says that Forget writes. It has no name in it.
const Forgot What = "forget"

// maxMentions is how many mentions are listed.
const maxMentions = 1000

// Forget deletes all reports in which a player is a peer: the reports, their documents, the bundles that they are from,
// and the name wherever files were called by it. Names are what the player is called in the store: the name, and the
// pseudonym that stands for it. Of two peers of one name the second is NAME#2, which counts as well.
//
// Of a bundle with several matches the reports of those stay that the player is in no part of; its content goes, since
// all matches are in it. What is said in texts and in the content of other bundles stays; Forgotten says what of that
// was found.
func Forget(ctx context.Context, s *Store, b blobs.Store, names []string, who string, dryRun bool) (*Forgotten, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.TrimSpace(n) == "" })
	if len(names) == 0 {
		return nil, errors.New("a player to be forgotten has a name")
	}
	if !dryRun {
		if err := s.overwriteDeleted(ctx); err != nil {
			return nil, err
		}
	}
	var f *Forgotten
	var gone []string
	errDry := errors.New("nothing is to be changed")
	err := s.Write(ctx, func(tx *Tx) (err error) {
		x := &forgetting{tx: tx, names: names, done: &Forgotten{DryRun: dryRun, Mentions: []Mention{}, Events: []int64{}, Groups: []string{}}}
		f = x.done
		if err := x.all(ctx); err != nil {
			return err
		}
		gone = x.gone
		if dryRun {
			return errDry // what follows from the deletion was seen, and is taken back
		}
		_, err = tx.Event(ctx, Event{Who: who, What: Forgot, About: About{Text: fmt.Sprintf("%s, %s", prose.Count(int64(f.Reports), "report", "reports"), prose.Count(int64(f.Bundles), "bundle", "bundles"))}})
		return err
	})
	if dryRun && errors.Is(err, errDry) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	for _, hash := range gone {
		needed, err := s.needed(ctx, hash)
		if err == nil && !needed {
			err = b.Delete(ctx, hash)
		}
		if err != nil {
			return f, fmt.Errorf("the reports are deleted, and the content of bundle %s is not: %w", hash, err)
		}
	}
	return f, s.settleDeleted(ctx)
}

// forgetting is one Forget.
type forgetting struct {
	tx    *Tx
	names []string
	done  *Forgotten
	gone  []string // blobs
}

func (x *forgetting) all(ctx context.Context) error {
	bundles, err := x.bundles(ctx)
	if err != nil {
		return err
	}
	for _, id := range bundles {
		if err := x.bundle(ctx, id); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{x.unname, x.traits, x.mentions, x.said} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// is reports whether a peer's name is one of those: NAME, or NAME#2 of a second peer that is called so.
func (x *forgetting) is(peer string) bool {
	return slices.ContainsFunc(x.names, func(n string) bool {
		rest, ok := strings.CutPrefix(peer, n)
		return ok && (rest == "" || rest[0] == '#' && len(rest) > 1 && strings.Trim(rest[1:], "0123456789") == "")
	})
}

// bundles returns those in which a report has the player.
func (x *forgetting) bundles(ctx context.Context) ([]int64, error) {
	var ids []int64
	for _, n := range x.names {
		named, err := valuesOf[int64](ctx, x.tx, "forget.bundles", n)
		if err != nil {
			return nil, err
		}
		ids = append(ids, named...)
		err = x.tx.each(ctx, "forget.numbered", []any{n + "#"}, func(scan func(...any) error) error {
			var id int64
			var name string
			err := scan(&id, &name)
			if x.is(name) {
				ids = append(ids, id)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// bundle deletes what a bundle has of the player.
func (x *forgetting) bundle(ctx context.Context, id int64) error {
	type match struct {
		number int
		report int64
	}
	var theirs []match
	all, err := rowsOf(ctx, x.tx, func(m *match) []any { return []any{&m.number, &m.report} }, "forget.matches", id)
	if err != nil {
		return err
	}
	for _, m := range all {
		has := false
		err := x.tx.each(ctx, "forget.peers", []any{m.report}, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			has = has || x.is(name)
			return err
		})
		if err != nil {
			return err
		}
		if has {
			theirs = append(theirs, m)
		}
	}
	b, err := x.tx.Bundle(ctx, id)
	if err != nil {
		return err
	}
	if b.Kept != "" {
		x.gone = append(x.gone, b.Kept)
	}
	if b.Hash != b.Kept {
		x.gone = append(x.gone, b.Hash) // what was received, if names were taken out of a copy
	}
	x.done.Bundles++
	x.done.Reports += len(theirs)
	if len(theirs) == len(all) {
		x.done.Rows++
		return x.tx.dropBundle(ctx, id)
	}
	for _, m := range theirs {
		if err := x.tx.drop(ctx, id, m.number); err != nil {
			return err
		}
	}
	for _, name := range []string{"bundle.forget-kept", "receipts.unname"} {
		if _, err := x.tx.run(ctx, name, id); err != nil {
			return err
		}
	}
	return nil
}

// unname takes away what bundles and receipts are called by the name.
func (x *forgetting) unname(ctx context.Context) error {
	for _, table := range []struct{ list, change string }{
		{"forget.bundle-names", "bundle.unname"}, {"forget.receipt-names", "receipt.unname"}, {"forget.upload-names", "upload.unname"},
	} {
		var ids []any
		err := x.tx.each(ctx, table.list, nil, func(scan func(...any) error) error {
			var id any
			var name string
			err := scan(&id, &name)
			if x.mentioned([]byte(name)) {
				ids = append(ids, id)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := x.tx.run(ctx, table.change, id); err != nil {
				return err
			}
		}
		x.done.Names += len(ids)
	}
	return nil
}

// traits deletes what files stated with the name in it, unless reports of others have it.
func (x *forgetting) traits(ctx context.Context) error {
	var ids []int64
	err := x.tx.each(ctx, "forget.traits", nil, func(scan func(...any) error) error {
		var id int64
		var name, value string
		err := scan(&id, &name, &value)
		if x.mentioned([]byte(value)) {
			ids = append(ids, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		var used int64
		if err := x.tx.row(ctx, "trait.used", []any{id}, &used); err != nil {
			return err
		}
		if used > 0 {
			continue // their documents have it, and are listed
		}
		x.done.Facts++
		if err := x.traitSets(ctx, id); err != nil {
			return err
		}
		for _, name := range []string{"variant.trait.delete", "game.trait.delete", "trait.delete"} {
			if _, err := x.tx.run(ctx, name, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// traitSets deletes the sets of traits that have one which no report has any more.
func (x *forgetting) traitSets(ctx context.Context, trait int64) error {
	sets, err := valuesOf[int64](ctx, x.tx, "trait.sets", trait)
	for _, id := range sets {
		for _, name := range []string{"set.traits.delete", "set.delete"} {
			if err == nil {
				_, err = x.tx.run(ctx, name, id)
			}
		}
	}
	return err
}

// mentions looks for the name in the documents that are left.
func (x *forgetting) mentions(ctx context.Context) error {
	return x.tx.each(ctx, "forget.documents", nil, func(scan func(...any) error) error {
		var m Mention
		var body []byte
		if err := scan(&m.Bundle, &m.Match, &body); err != nil {
			return err
		}
		text, err := unpackJSON(body)
		if err != nil {
			return fmt.Errorf("bundle %s, match %d: %w", m.Bundle, m.Match, err)
		}
		if len(x.done.Mentions) < maxMentions && x.inJSON(text) {
			x.done.Mentions = append(x.done.Mentions, m)
		}
		return nil
	})
}

// said looks for the name in what people wrote.
func (x *forgetting) said(ctx context.Context) error {
	err := x.tx.each(ctx, "forget.events", nil, func(scan func(...any) error) error {
		var id int64
		var about string
		err := scan(&id, &about)
		if x.inJSON([]byte(about)) {
			x.done.Events = append(x.done.Events, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = x.tx.each(ctx, "forget.groups", nil, func(scan func(...any) error) error {
		var code, name string
		err := scan(&code, &name)
		if x.mentioned([]byte(name)) {
			x.done.Groups = append(x.done.Groups, code)
		}
		return err
	})
	if err != nil {
		return err
	}
	return x.tx.row(ctx, "forget.unread", nil, &x.done.Unread)
}

// inJSON is mentioned for the texts of a JSON document. Few have a name anywhere, so that is looked at first.
func (x *forgetting) inJSON(document []byte) bool {
	if !slices.ContainsFunc(x.names, func(n string) bool {
		quoted, err := json.Marshal(n)
		return err == nil && bytes.Contains(document, quoted[1:len(quoted)-1]) || bytes.Contains(document, []byte(n))
	}) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if text, ok := token.(string); ok && x.mentioned([]byte(text)) {
			return true
		}
	}
}

// mentioned reports whether one of the names stands in a text as words of its own: Al is not in Alice.
func (x *forgetting) mentioned(text []byte) bool {
	return slices.ContainsFunc(x.names, func(n string) bool { return hasWord(text, []byte(n)) })
}

func hasWord(text, word []byte) bool {
	part := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	for from := 0; ; {
		i := bytes.Index(text[from:], word)
		if i < 0 {
			return false
		}
		at := from + i
		before, _ := utf8.DecodeLastRune(text[:at])
		after, _ := utf8.DecodeRune(text[at+len(word):])
		if !part(before) && !part(after) {
			return true
		}
		_, size := utf8.DecodeRune(text[at:])
		from = at + cmp.Or(size, 1)
	}
}

// overwriteDeleted has SQLite fill what it deletes with zeros.
func (s *Store) overwriteDeleted(ctx context.Context) error {
	if s.kind != SQLite {
		return nil
	}
	var on int
	return s.write.QueryRowContext(ctx, "PRAGMA secure_delete = ON").Scan(&on)
}

// settleDeleted has SQLite bring what was deleted from its log into the database, and empty the log. While others
// read, the log stays until later.
func (s *Store) settleDeleted(ctx context.Context) error {
	if s.kind != SQLite {
		return nil
	}
	var busy, log, moved int
	return s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
}
