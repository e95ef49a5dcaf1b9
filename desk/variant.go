package desk

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// variant returns the variant of a key. If there is none, it creates one in the group with the coarse key, or in a new
// group.
func (tx *Tx) variant(ctx context.Context, game int64, key Key, r *document.Report) (id int64, newGroup bool, err error) {
	var group int64
	err = tx.row(ctx, "variant.find", []any{game, key.Coarse, key.Strict}, &id, &group)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, false, err
	}
	err = tx.row(ctx, "key.find", []any{game, key.Coarse}, &group)
	if errors.Is(err, sql.ErrNoRows) {
		group, newGroup, err = tx.newGroup(ctx, game, key, r)
	}
	if err != nil {
		return 0, false, err
	}
	if err := tx.row(ctx, "variant.insert", []any{game, key.Coarse, key.Strict, group, key.Title, key.Weak}, &id, &group); err != nil {
		return 0, false, err
	}
	for _, f := range r.Fingerprints {
		if _, err := tx.run(ctx, "print.insert", id, f.Level, f.Digest, f.Name); err != nil {
			return 0, false, err
		}
	}
	if !newGroup { // the group is found by the words of all its variants
		_, err = tx.run(ctx, "group.add-search", group, searchText(wordsOf(r)), maxSearch)
	}
	return id, newGroup, err
}

// newGroup creates the group of a coarse key. Its code is the first digits of the key, as many as needed to be unique.
func (tx *Tx) newGroup(ctx context.Context, game int64, key Key, r *document.Report) (id int64, isNew bool, err error) {
	for n := 8; n <= len(key.Coarse); n++ {
		code := key.Coarse[:n]
		err = tx.row(ctx, "group.insert", []any{code, game, key.Title, key.Weak, searchText(append([]string{key.Title, code}, wordsOf(r)...))}, &id)
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		// Another transaction may have created the same group.
		if err = tx.row(ctx, "key.find", []any{game, key.Coarse}, &id); err == nil {
			return id, false, nil
		}
	}
	if err != nil {
		return 0, false, err
	}
	_, err = tx.run(ctx, "key.insert", game, key.Coarse, id)
	return id, true, err
}

// wordsOf are the texts by which a report is found: the names in its fingerprints, its first sentence, the archetypes and
// fields that differ, and the engine's messages.
func wordsOf(r *document.Report) (words []string) {
	words = append(words, lists.Map(r.Fingerprints, func(f document.Fingerprint) string { return f.Name })...)
	words = append(words, firstSentence(r))
	for i := range r.Claims {
		words = append(words, prose.Shorten(r.Claims[i].Text, maxVerdict))
	}
	if k := r.Compared; k != nil {
		for i := range k.Columns {
			words = append(words, k.Columns[i].Archetype, k.Columns[i].Component, k.Columns[i].Field)
		}
		for i := range k.Rows {
			words = append(words, k.Rows[i].Archetype)
		}
		for i := range k.Entities {
			words = append(words, k.Entities[i].Kind)
		}
	}
	return words
}

// maxSearch is the maximum length of a group's search text.
const maxSearch = 4000

// searchText returns the search text of a group: its texts, each once, in lower case.
func searchText(texts []string) string {
	var once []string
	for _, text := range texts {
		if text = strings.ToLower(text); len(once) < maxSearch && !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	return prose.Shorten(strings.Join(once, " "), maxSearch)
}

// game returns the number of a game.
func (tx *Tx) game(ctx context.Context, name string) (id int64, err error) {
	if id, ok := tx.games[name]; ok {
		return id, nil
	}
	if err = tx.row(ctx, "game.find", []any{name}, &id); errors.Is(err, sql.ErrNoRows) {
		err = tx.row(ctx, "game.insert", []any{name}, &id)
	}
	if err == nil {
		tx.games[name] = id
	}
	return id, err
}
