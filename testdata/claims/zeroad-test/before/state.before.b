another state, in a binary form
