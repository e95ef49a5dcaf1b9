package desk

// Pack is for tests that write rows themselves.
var Pack = pack

// ManyRows is from how many rows on lists are asked for otherwise.
var ManyRows = &manyRows
