package orderlog

import (
	"fmt"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Writer and readers both use the checks below, so that they have the same rules.

func (h *Header) check() error {
	if (h.TickRate.Num == 0) != (h.TickRate.Den == 0) {
		return fmt.Errorf("tick rate %d/%d, expected two numbers above 0 or 0/0", h.TickRate.Num, h.TickRate.Den)
	}
	if n := max(len(h.Kinds), len(h.Peers), len(h.Params)); n > maxTable {
		return fmt.Errorf("%d order kinds, peers or parameters, limit is %d", n, maxTable)
	}
	names := make(map[string]bool, len(h.Kinds))
	for i, k := range h.Kinds {
		if k.Name == "" || names[k.Name] {
			return fmt.Errorf("order kind %d is named %q, expected a name that no other has", i, k.Name)
		}
		names[k.Name] = true
		if err := checkText("name of an order kind", k.Name); err != nil {
			return err
		}
	}
	for _, name := range h.Peers {
		if err := checkText("name of a peer", name); err != nil {
			return err
		}
	}
	for key, value := range h.Params {
		if err := checkText("parameter", key); err != nil {
			return err
		}
		if err := checkText("parameter", value); err != nil {
			return err
		}
	}
	if err := checkText("peer", h.Peer); err != nil {
		return err
	}
	return checkText("build", h.Build)
}

// check reports what is wrong with t on its own. kinds is the number of order kinds in the header.
func (t *Tick) check(kinds int) error {
	for i := range t.Orders {
		o := &t.Orders[i]
		switch {
		case o.Tick != t.Number:
			return fmt.Errorf("tick %d: order %d has tick %d", t.Number, i, o.Tick)
		case uint64(o.Kind) >= uint64(kinds):
			return fmt.Errorf("tick %d: order %d has kind %d, the header has %d kinds", t.Number, i, o.Kind, kinds)
		case len(o.Payload) > MaxPayload:
			return fmt.Errorf("tick %d: order %d has a payload of %d bytes, limit is %d", t.Number, i, len(o.Payload), MaxPayload)
		}
	}
	for i := range t.Hashes {
		if err := t.Hashes[i].check(); err != nil {
			return fmt.Errorf("tick %d: hash %d: %w", t.Number, i, err)
		}
	}
	opened := false
	for i := range t.Markers {
		m := &t.Markers[i]
		if err := m.check(); err != nil {
			return fmt.Errorf("tick %d: marker %d: %w", t.Number, i, err)
		}
		if m.NewEpoch && opened {
			return fmt.Errorf("tick %d: marker %d opens a second epoch", t.Number, i)
		}
		opened = opened || m.NewEpoch
	}
	return nil
}

func (o *Observed) check() error {
	switch {
	case !isName(string(o.Kind)) || o.Kind == "":
		return fmt.Errorf("hash kind %q, expected 1 to %d of A-Z a-z 0-9 - _", o.Kind, maxName)
	case !isName(string(o.Coverage)):
		return fmt.Errorf("coverage %q, expected at most %d of A-Z a-z 0-9 - _", o.Coverage, maxName)
	case len(o.Bytes) == 0 || len(o.Bytes) > MaxHashWidth:
		return fmt.Errorf("hash of %d bytes, expected 1 to %d", len(o.Bytes), MaxHashWidth)
	}
	return nil
}

func (m *Marker) check() error {
	switch {
	case !m.Kind.known():
		return fmt.Errorf("unknown kind %d", uint8(m.Kind))
	case m.NewEpoch && !markerKinds[m.Kind].newEpoch:
		return fmt.Errorf("%s cannot open an epoch", m.Kind)
	case !m.NewEpoch && m.History != (merkle.Hash{}):
		return fmt.Errorf("%s has a history hash and opens no epoch", m.Kind)
	}
	return checkText("text", m.Text)
}

func checkText(what, s string) error {
	if len(s) > MaxText {
		return fmt.Errorf("%s of %d bytes, limit is %d", what, len(s), MaxText)
	}
	return nil
}

func isName(s string) bool {
	if len(s) > maxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// succession checks that ticks ascend and counts epochs.
type succession struct {
	epoch   uint32
	next    uint64 // lowest number allowed for the next tick
	started bool
	full    bool // the highest possible tick has been seen
}

func (h *Header) succession() succession {
	return succession{epoch: h.Epoch, next: h.FirstPoint}
}

// step takes the next tick. An epoch that the log's first tick opens is the epoch that the header names.
func (s *succession) step(t *Tick) error {
	switch {
	case t.NewEpoch() != nil:
		if s.started {
			s.epoch++
		}
	case !s.started && t.Number < s.next:
		return fmt.Errorf("tick %d: the log begins at state point %d", t.Number, s.next)
	case s.full || t.Number < s.next:
		return fmt.Errorf("tick %d follows tick %d in epoch %d", t.Number, s.next-1, s.epoch)
	}
	s.started = true
	s.next = t.Number + 1
	s.full = s.next == 0
	return nil
}
