package orderlog

// Trouble lists the logs that could not be read to their end, with the reasons.
func (c *Comparison) Trouble() []string {
	var out []string
	for i := range c.Peers {
		if e := c.Peers[i].Error; e != "" {
			out = append(out, e)
		}
	}
	return out
}
