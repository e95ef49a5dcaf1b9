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

// Forgotten describes what Forget deleted, or would delete, and what it found and left.
type Forgotten struct {
	DryRun  bool `json:"dry_run"`
	Reports int  `json:"reports"` // with the player as a peer, and their documents
	Bundles int  `json:"bundles"` // with such a report; their content is deleted
	Rows    int  `json:"rows"`    // those that are deleted completely because they had no other match
	Names   int  `json:"names"`   // names of bundles, receipts and uploads that contained the name
	Facts   int  `json:"facts"`   // values from files that contained the name
	// Mentions are other reports with the name in their text. Events and Groups contain it in texts that people wrote.
	// They stay.
	Mentions []Mention `json:"mentions"`
	Events   []int64   `json:"events"`
	Groups   []string  `json:"groups"`
	// Unread are the blobs of other bundles, which were not searched.
	Unread int64 `json:"unread"`
}

// Mention is a match with a name in its document.
type Mention struct {
	Bundle string `json:"bundle"` // hash
	Match  int    `json:"match"`  // from 1
}

// Forgot is the kind of event that Forget writes. The event does not contain the name.
const Forgot What = "forget"

// maxMentions is the maximum number of mentions in the list.
const maxMentions = 1000

// Forget deletes all reports in which a player is a peer: the reports, their documents, the bundles that contain them,
// and the name in file names. names are the player's names in the store: the name, and its pseudonym. If two peers have
// the same name, the second is NAME#2, which also matches.
//
// If a bundle has several matches, the reports of matches without the player stay. The bundle's content is deleted,
// because it contains all matches. Texts and the content of other bundles stay; Forgotten lists what was found there.
func Forget(ctx context.Context, s *Store, b blobs.Store, names []string, who string, dryRun bool) (*Forgotten, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.TrimSpace(n) == "" })
	if len(names) == 0 {
		return nil, errors.New("a player to be forgotten has a name")
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
			return errDry // the result of the deletion was computed, and is now rolled back
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

// forgetting is the state of one Forget.
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

// is reports whether a peer's name is one of the names: NAME, or NAME#2 for a second peer with that name.
func (x *forgetting) is(peer string) bool {
	return slices.ContainsFunc(x.names, func(n string) bool {
		rest, ok := strings.CutPrefix(peer, n)
		return ok && (rest == "" || rest[0] == '#' && len(rest) > 1 && strings.Trim(rest[1:], "0123456789") == "")
	})
}

// bundles returns the bundles with a report in which the player is a peer.
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

// bundle deletes a bundle's data about the player.
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
		peers, err := valuesOf[string](ctx, x.tx, "forget.peers", m.report)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(peers, x.is) {
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
		x.gone = append(x.gone, b.Hash) // the received content, if a copy without names was made
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
	return x.tx.runAll(ctx, id, "bundle.forget-kept", "receipts.unname")
}

// unname removes the name from the names of bundles and receipts.
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

// traits deletes facts from files that contain the name, unless reports of other players have them.
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
			continue // their documents contain it, and are listed
		}
		x.done.Facts++
		if err := x.traitSets(ctx, id); err != nil {
			return err
		}
		if err := x.tx.runAll(ctx, id, "variant.trait.delete", "game.trait.delete", "trait.delete"); err != nil {
			return err
		}
	}
	return nil
}

// traitSets deletes the sets with a trait that no report has any more.
func (x *forgetting) traitSets(ctx context.Context, trait int64) error {
	sets, err := valuesOf[int64](ctx, x.tx, "trait.sets", trait)
	for _, id := range sets {
		if err == nil {
			err = x.tx.runAll(ctx, id, "set.traits.delete", "set.delete")
		}
	}
	return err
}

// mentions searches for the name in the remaining documents.
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

// said searches for the name in texts that people wrote.
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

// inJSON is mentioned for the texts in a JSON document. Few documents contain a name, so that is checked first.
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

// mentioned reports whether a text contains one of the names as separate words: Alice does not contain Al.
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

// settleDeleted makes SQLite move deletions from its log into the database, and empty the log. While others read, the
// log stays until later.
func (s *Store) settleDeleted(ctx context.Context) error {
	if s.kind != SQLite {
		return nil
	}
	var busy, log, moved int
	return s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
}
