package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report"
)

// fingerprint tells reports of one bug from others: by what is the same each time that it
// strikes, so by no tick, entity, value, peer or path. The coarse one leaves out the system and
// the archetype: a mistake may strike another one next time.
func fingerprint(r *report.Report, t *traits) {
	r.Of = []report.Trait{}
	if r.Status != report.Diverged {
		return
	}
	put := func(name, value string, coarse bool) {
		r.Of = append(r.Of, report.Trait{Name: name, Value: value, Coarse: coarse})
	}
	var archetype, component, field, kind, cause string
	put("game", r.Session.Game, true)
	put("divergence", string(r.Kind), true)
	if d := r.FirstDivergence; d != nil {
		if d.Root {
			archetype = label(d.Archetypes[0])
		} else if len(d.Archetypes) <= fewArchetypes {
			var labels []string
			for _, l := range d.Archetypes {
				labels = append(labels, label(l))
			}
			archetype = strings.Join(labels, "+")
		}
		component = d.Component
		put("system", d.System, false)
	}
	if component == "" {
		component = onlyComponent(r)
	}
	for i := range r.Locus {
		f := &r.Locus[i]
		if !f.Cache && f.Component == component && (r.FirstDivergence == nil || !r.FirstDivergence.Root || label(f.Archetype) == archetype) {
			field, kind = f.Field, string(f.Kind)
			break
		}
	}
	if len(r.Causes) > 0 {
		cause = r.Causes[0].Class
	}
	inputs := strings.HasPrefix(cause, "input-")
	put("archetype", archetype, false)
	put("component", component, !inputs)
	put("field", field, !inputs)
	put("kind", kind, !inputs)
	put("cause", cause, inputs)
	put("order", t.order, inputs)
	if r.Kind == bisect.StateDiffers && archetype == "" && component == "" && t.order == "" && (r.FirstDivergence == nil || r.FirstDivergence.System == "") {
		r.Of = []report.Trait{} // it would be that of many bugs
		return
	}
	r.Fingerprint, r.Coarse = digest(r.Of, false), digest(r.Of, true)
}

// onlyComponent returns the component that all differing values of the state are of, if it is
// one.
func onlyComponent(r *report.Report) (name string) {
	if r.Compared == nil {
		return ""
	}
	for _, c := range r.Compared.Columns {
		if c.Cache {
			continue
		}
		if name != "" && c.Component != name {
			return ""
		}
		name = c.Component
	}
	return name
}

// fewArchetypes is up to how many archetypes that differ tell a bug from others, where it is
// not known which was first.
const fewArchetypes = 4

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
