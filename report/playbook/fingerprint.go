package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report"
)

// fingerprint separates reports of one bug from others: by what is the same each time that it
// strikes, so by no tick, entity, value, peer or path. The coarse one leaves out the system and
// the archetype: a mistake may strike another one next time.
func (c *Conclusion) fingerprint(t *traits) {
	if !c.Diverged() {
		return
	}
	put := func(name, value string, coarse bool) {
		c.Of = append(c.Of, report.Trait{Name: name, Value: value, Coarse: coarse})
	}
	var archetype, component, field, kind, cause string
	put("game", c.Session.Game, true)
	put("divergence", string(c.Kind), true)
	first, known := c.Root()
	if c.Bracket != nil {
		if known {
			archetype = label(first)
		} else if list := c.MayBeFirst(); len(list) <= fewArchetypes {
			var labels []string
			for _, l := range list {
				labels = append(labels, label(l))
			}
			archetype = strings.Join(labels, "+")
		}
		component = c.Component
		put("system", c.System, false)
	}
	if component == "" {
		component = c.onlyComponent()
	}
	for i := range c.Locus {
		f := &c.Locus[i]
		if !f.Cache && f.Component == component && (c.Bracket == nil || !known || label(f.Archetype) == archetype) {
			field, kind = f.Field, string(f.Kind)
			break
		}
	}
	if len(c.Causes) > 0 {
		cause = c.Causes[0].Class
	}
	inputs := strings.HasPrefix(cause, "input-")
	put("archetype", archetype, false)
	put("component", component, !inputs)
	put("field", field, !inputs)
	put("kind", kind, !inputs)
	put("cause", cause, inputs)
	put("order", t.order, inputs)
	if c.Kind == bisect.StateDiffers && archetype == "" && component == "" && t.order == "" && (c.Bracket == nil || c.System == "") {
		c.Of = nil // it would be that of many bugs
		return
	}
	c.Fingerprint, c.Coarse = digest(c.Of, false), digest(c.Of, true)
}

// onlyComponent returns the component that all differing values of the state are of, if it is
// one.
func (c *Conclusion) onlyComponent() (name string) {
	if c.Compared == nil {
		return ""
	}
	for _, column := range c.Compared.Columns {
		if column.Cache {
			continue
		}
		if name != "" && column.Component != name {
			return ""
		}
		name = column.Component
	}
	return name
}

// fewArchetypes is up to how many archetypes that differ separate a bug from others, where it is
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
