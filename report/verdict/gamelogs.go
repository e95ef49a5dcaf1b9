package verdict

import "github.com/desynctool/desynctool/report/document"

// gameLogs takes over what only some of the games' own logs have. It does not if states or hashes were compared and
// nothing shows that the peers diverged: each log has lines that the others lack, which mean nothing then.
func (c *Conclusion) gameLogs(e Evidence) {
	g := e.GameLogs
	if g == nil || len(g.Lines) == 0 || c.Search.Compares() && !c.Diverged() && len(c.Statements) == 0 {
		return
	}
	c.GameLogs = g
}

// LackedData returns the line, nearest to the split, in which a single peer reports that it could not find, load or
// understand something, and that no other peer has; nil if there is none. The missing data may be why it diverged, and
// is not known to be.
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
