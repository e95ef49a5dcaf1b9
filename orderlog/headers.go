package orderlog

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
)

// HeaderDifference is a value in the logs' headers that differs but must be the same on all peers of a session.
type HeaderDifference struct {
	// Name is "build" or "tick rate".
	Name string `json:"name"`
	// Values are the values of the peers that state one, in the order of the logs.
	Values []HeaderValue `json:"values"`
}

// HeaderValue is what one peer's header states.
type HeaderValue struct {
	Peer  string `json:"peer"`
	Value string `json:"value"`
}

// DifferentHeaders returns the values that differ between headers, the build first. A header without the value differs
// from none.
func DifferentHeaders(names []string, headers []Header) (list []HeaderDifference) {
	for _, field := range []struct {
		name string
		of   func(h *Header) string
	}{
		{"build", func(h *Header) string { return h.Build }},
		{"tick rate", func(h *Header) string { return h.TickRate.String() }},
	} {
		d := HeaderDifference{Name: field.name}
		differ := false
		for i := range headers {
			if value := field.of(&headers[i]); value != "" {
				d.Values = append(d.Values, HeaderValue{names[i], value})
				differ = differ || value != d.Values[0].Value
			}
		}
		if differ {
			list = append(list, d)
		}
	}
	return list
}

// String returns "30/1 a second", or an empty string for an unknown rate.
func (r Rate) String() string {
	if r.Den == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d a second", r.Num, r.Den)
}

// String returns the difference in one line.
func (d *HeaderDifference) String() string {
	text := d.Name + " differs:"
	for i, v := range d.Values {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %s on %s", prose.Name(v.Value), prose.Name(v.Peer))
	}
	return text
}

func (c *comparer) headers() []HeaderDifference {
	names, headers := make([]string, len(c.lanes)), make([]Header, len(c.lanes))
	for i := range c.lanes {
		names[i], headers[i] = c.lanes[i].name, c.lanes[i].header
	}
	return DifferentHeaders(names, headers)
}
