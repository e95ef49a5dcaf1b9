package statements

import "github.com/desynctool/desynctool/tracediff"

func (m *message) excluded(trigger) bool { return false }

func (m *message) values(int, int) ([]tracediff.ClaimedValue, string) { return nil, "" }

func (m *message) accused(trigger, trigger) []string { return nil }

func (m *message) token(k int) string { return m.units[k].text }
