package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/desynctool/desynctool/report"
)

// maxLabels is how many archetypes stand in a fingerprint where it is not known which of
// them diverged first.
const maxLabels = 8

// fingerprint tells reports of one bug from others: by what is the same each time that it
// strikes, so by no tick, entity, value, peer or path. The coarse one leaves out what an
// unlucky session may lack.
func fingerprint(r *report.Report, t *traits) {
	r.Of = []report.Trait{}
	if r.Status != report.Diverged {
		return
	}
	put := func(name, value string, coarse bool) {
		r.Of = append(r.Of, report.Trait{Name: name, Value: value, Coarse: coarse})
	}
	var archetype, component, field, kind, cause string
	if d := r.FirstDivergence; d != nil {
		switch n := len(d.Archetypes); {
		case d.Root || n == 1:
			archetype = label(d.Archetypes[0])
		case n > 0:
			archetype = labels(d.Archetypes, maxLabels)
		}
		component = d.Component
		put("game", r.Session.Game, true)
		put("system", d.System, false)
	}
	for i := range r.Locus {
		f := &r.Locus[i]
		if !f.Cache && label(f.Archetype) == archetype && (component == "" || f.Component == component) {
			field, kind = f.Field, string(f.Kind)
			break
		}
	}
	if len(r.Causes) > 0 {
		cause = r.Causes[0].Class
	}
	put("divergence", string(r.Kind), true)
	put("archetype", archetype, true)
	put("component", component, true)
	put("field", field, false)
	put("kind", kind, false)
	put("cause", cause, strings.HasPrefix(cause, "input-"))
	put("order", t.order, strings.HasPrefix(cause, "input-"))
	r.Fingerprint, r.Coarse = digest(r.Of, false), digest(r.Of, true)
}

// digest hashes traits to 16 hex digits.
func digest(traits []report.Trait, coarse bool) string {
	h := sha256.New()
	for _, t := range traits {
		if coarse && !t.Coarse {
			continue
		}
		h.Write([]byte(t.Name + "\x00" + t.Value + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
