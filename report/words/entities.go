package words

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// entityOf returns what a value that differs is of.
func entityOf(c *verdict.Conclusion, f *document.LocusField) *document.Entity {
	if f.Entity == nil {
		return &document.Entity{Kind: label(f.Archetype), Key: f.Key, Cache: f.Cache}
	}
	return &c.Compared.Entities[*f.Entity]
}

// absent returns the entities with rows that only one side has, as far as they are listed, and whether these are all of
// the rows.
func absent(c *verdict.Conclusion, rows *document.LocusRows) (list []*document.Entity, all bool) {
	left := rows.Count
	for i := range c.Compared.Entities {
		e := &c.Compared.Entities[i]
		if e.Cache != rows.Cache {
			continue
		}
		for _, r := range e.Rows {
			if r.Archetype == rows.Archetype && r.Peer == rows.Peer {
				list = append(list, e)
				left -= min(left, r.Count)
			}
		}
	}
	if len(c.Compared.Entities) == 0 {
		for _, key := range rows.Keys {
			list = append(list, &document.Entity{Kind: label(rows.Archetype), Key: key, Cache: rows.Cache, OnlyOn: rows.Peer})
			left -= min(left, 1)
		}
	}
	return list, left == 0
}

// only names the rows of an archetype that only one side has: "unit 5 exists only on host", "2 rows of Health of unit 5
// exist only on host".
func only(c *verdict.Conclusion, rows *document.LocusRows) string {
	list, all := absent(c, rows)
	whole := !slices.ContainsFunc(list, func(e *document.Entity) bool { return e.OnlyOn != rows.Peer })
	switch {
	case all && whole && len(list) == 1:
		return fmt.Sprintf("%s exists only on %s", list[0].Title(), rows.Peer)
	case all && whole:
		return fmt.Sprintf("%s exist only on %s", entities(rows.Archetype, list), rows.Peer)
	}
	text, exist := prose.Count(rows.Count, "row", "rows")+" of "+label(rows.Archetype), "exist"
	if rows.Count == 1 {
		exist = "exists"
	}
	if all && len(list) == 1 {
		text += " of " + list[0].Short()
	}
	return fmt.Sprintf("%s %s only on %s", text, exist, rows.Peer)
}

// entities names the only entity, or counts them: by their kind if it is the same, else by the archetype in which they
// differ.
func entities(archetype string, list []*document.Entity) string {
	if len(list) == 1 {
		return list[0].Title()
	}
	kind := label(archetype)
	if len(list) > 0 && !slices.ContainsFunc(list, func(e *document.Entity) bool { return e.Kind != list[0].Kind }) {
		kind = list[0].Kind
	}
	return document.CountEntities(kind, uint64(len(list)))
}

// onlyEntity returns the entity that all differences in an archetype belong to, nil if there is more than one.
func onlyEntity(c *verdict.Conclusion, archetype string) *document.Entity {
	var of []*document.Entity
	for i := range c.Locus {
		if f := &c.Locus[i]; f.Archetype == archetype && archetype != "" && !f.Cache {
			of = addEntity(of, entityOf(c, f))
		}
	}
	for i := range c.Compared.Rows {
		if rows := &c.Compared.Rows[i]; rows.Archetype == archetype && !rows.Cache {
			list, all := absent(c, rows)
			if !all {
				return nil
			}
			for _, e := range list {
				of = addEntity(of, e)
			}
		}
	}
	if len(of) != 1 {
		return nil
	}
	return of[0]
}

// addEntity appends an entity that is not in a list.
func addEntity(list []*document.Entity, e *document.Entity) []*document.Entity {
	if slices.ContainsFunc(list, func(o *document.Entity) bool { return o == e || o.Short() == e.Short() }) {
		return list
	}
	return append(list, e)
}
