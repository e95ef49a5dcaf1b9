package verdict

import "github.com/desynctool/desynctool/report/document"

// gameLogs takes over what only some of the games' own logs have, unless states or hashes were
// compared and nothing says that the peers parted: each log has lines of its own, which mean
// nothing then.
func (c *Conclusion) gameLogs(e Evidence) {
	g := e.GameLogs
	if g == nil || len(g.Lines) == 0 || c.Search.Compares() && !c.Diverged() && len(c.Statements) == 0 {
		return
	}
	c.GameLogs = g
}

// LackedData returns the line, nearest to the split, by which a single peer says that it could
// not find, load or understand something, and that no other peer has; nil if there is none. What
// it lacks may be why it parted, and is not known to be.
func (c *Conclusion) LackedData() *document.GameLogLine {
	if c.GameLogs == nil {
		return nil
	}
	for i := range c.GameLogs.Lines {
		if l := &c.GameLogs.Lines[i]; l.Data && len(l.Have) == 1 && len(l.Lack) > 0 {
			return l
		}
	}
	return nil
}
