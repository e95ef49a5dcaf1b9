package gamelog

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
)

// begins are the beginnings of the names of logs that do not end in .log.
var begins = []string{"infolog", "mainlog", "interestinglog", "stdout", "stderr", "output_log", "wzlog", "player-prev", "error", "exception", "console", "debug"}

// Named reports whether a file has a name that games give their logs: infolog.txt,
// mainlog.html, Player.log, stdout.txt, anything.log. It may be compressed.
func Named(path string) bool {
	base := strings.ToLower(compression.PlainName(filepath.Base(path)))
	ext := filepath.Ext(base)
	switch ext {
	case ".log":
		return true
	case ".txt", ".html", ".htm", ".out", ".err", "":
	default:
		return false
	}
	name := strings.TrimSuffix(base, ext)
	for _, begin := range begins {
		if strings.HasPrefix(name, begin) && (ext != "" || name == begin) || ext != "" && strings.HasSuffix(name, begin) {
			return true
		}
	}
	return ext != "" && (strings.HasPrefix(name, "game_") || strings.HasPrefix(name, "game-")) && ext == ".txt" || strings.Contains(base, ".log.")
}

// Sniff reports whether the leading bytes of a file are a log's: they come from a known logger, or from own, the logger
// that a page describes; nil if none does.
func Sniff(head []byte, own *engine.Log) bool {
	for line := range bytes.Lines(head) {
		if loggerOf(own, bytes.TrimRight(line, "\r\n")) != &noLogger {
			return true
		}
	}
	return false
}

// Text reports whether leading bytes are text, in UTF-8 or UTF-16, rather than a binary file.
func Text(head []byte) bool {
	return wideOrder(head) != nil || bytes.IndexByte(head, 0) < 0
}
