package orderlog

// Trouble says which logs could not be read to their end, and why.
func (c *Comparison) Trouble() []string {
	var out []string
	for i := range c.Peers {
		if e := c.Peers[i].Error; e != "" {
			out = append(out, e)
		}
	}
	return out
}
