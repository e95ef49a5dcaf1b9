package archive

import "github.com/desynctool/desynctool/orderlog/limits"

// unread says that an entry was not read since a limit is reached.
func unread(l *limits.Limit) string { return "was not read: " + l.Reached("", 0).Error() }
