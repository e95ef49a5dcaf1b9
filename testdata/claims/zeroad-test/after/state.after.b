b state, in a binary form
