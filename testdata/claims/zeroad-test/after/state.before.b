one state, in a binary form
