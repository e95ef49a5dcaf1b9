package gamelog

import (
	"bytes"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/internal/textsearch"
)

// telling finds lines that carry information anywhere in them: [unlabelled], [strict] and [engine.Log.Tick] find
// nothing in others.
var telling = sync.OnceValue(func() *textsearch.Searcher { return textsearch.New(tellingTexts()) })

// tellingTexts are the texts in such lines.
func tellingTexts() []string {
	var ticks []string
	for _, log := range engines.Logs() {
		ticks = append(ticks, log.Telling...)
	}
	return slices.Concat(messages, ticks, []string{
		"xception", "ssert in ", "ssertion failed", "SSERTION FAILED", "ssertion `", "egmentation fault", "ccess violation",
		"panicked at", "SIGSEGV", "SIGABRT", "Error:", "error:",
	})
}

// unlabelled returns the severity of a message without a level, from its wording. It may contain one of the telling
// texts if tells is set.
func unlabelled(b []byte, tells bool) Severity {
	if tells {
		if severity, told := told(b); told {
			return severity
		}
	}
	if bytes.HasPrefix(b, []byte("panic: ")) {
		return Fatal
	}
	if len(b) < 8 || bytes.IndexByte([]byte("FfCUM"), b[0]) < 0 || bytes.IndexByte([]byte("aoni"), b[1]) < 0 {
		return None
	}
	for _, begin := range []string{"Failed to ", "failed to ", "Could not ", "Couldn't ", "Cannot ", "Can't ", "Unable to ", "Missing "} {
		if bytes.HasPrefix(b, []byte(begin)) {
			return Warning
		}
	}
	return None
}

// told returns the severity of a message from words anywhere in it, false if there are none.
func told(b []byte) (Severity, bool) {
	if bytes.Contains(b, []byte("xception")) && exception(b) {
		return Exception, true
	}
	if bytes.Contains(b, []byte("ssert")) && containsAny(b, "Assert in ", "Assertion failed", "assertion failed", "ASSERTION FAILED", "Assertion `", "assertion `") {
		return Assertion, true
	}
	if bytes.Contains(b, []byte("fault")) && containsAny(b, "Segmentation fault", "segmentation fault", "Access violation", "access violation") ||
		containsAny(b, "panicked at", "SIGSEGV", "SIGABRT") || bytes.HasPrefix(b, []byte("panic: ")) {
		return Fatal, true
	}
	if i := bytes.Index(b, []byte("rror")); i > 0 && i < 80 && i+4 < len(b) && (b[i-1] == 'E' || b[i-1] == 'e') && b[i+4] == ':' {
		if i > 1 && isWord(b[i-2]) { // ValueError: …
			if firstWord(b) == i+4 && !bytes.HasPrefix(b, []byte("error")) {
				return Exception, true
			}
			return None, true
		}
		return Error, true
	}
	return None, false
}

// exception reports whether a line begins the report of one.
func exception(b []byte) bool {
	if containsAny(b, "nhandled exception", "nhandled Exception", "Uncaught exception", "Exception of type", "terminate called after throwing") {
		return true
	}
	n := firstWord(b)
	return bytes.HasSuffix(b[:n], []byte("Exception")) && (n == len(b) || b[n] == ':' || bytes.HasPrefix(b[n:], []byte(" :")))
}

// firstWord returns the length of the name that a text begins with, with its points.
func firstWord(b []byte) int {
	n := 0
	for n < len(b) && (isWord(b[n]) || b[n] == '.' || b[n] == '`' || b[n] == '+') {
		n++
	}
	return n
}

func containsAny(b []byte, list ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return bytes.Contains(b, []byte(s)) })
}

// messages are texts that games write only when they find that they are out of sync.
var messages = []string{
	"Sync error for ", "ut of sync in frame", "ut-Of-Sync on turn", "etwork out of sync", "lost synchronization with", "Synchronization loss!",
	"Checksum for beat ", "Detected checksum mismatch", "MismatchedChecksum", "DesyncDetected", "Desync on frame", "desynchronisation: ",
	"Found CRC error when", "is out of sync", "are out of sync", "Desync detected", "desync detected", "Desync at ", "OUT OF SYNC", "Out of sync!",
}

// strict reports whether a line is a game's own message that it is out of sync.
func strict(b []byte) bool {
	if !bytes.Contains(b, []byte("ync")) && !bytes.Contains(b, []byte("hecksum")) && !bytes.Contains(b, []byte("SYNC")) && !bytes.Contains(b, []byte("CRC error")) {
		return false
	}
	return containsAny(b, messages...)
}

// aboutDesync reports whether a warning or an error speaks of the desync.
func aboutDesync(b []byte) bool {
	if strict(b) {
		return true
	}
	low := bytes.ToLower(b)
	return containsAny(low, "desync", "out of sync", "out-of-sync", "outofsync", "not in sync", "lost sync")
}

// aboutData reports whether a warning or an error is about something that could not be found, loaded or understood, or
// that differs from the expected one: then the game may not use the same data.
func aboutData(b []byte) bool {
	low := bytes.ToLower(b)
	if containsAny(low, "gl::", "opengl", "vulkan", "direct3d", "d3d11", "fbo", "shader", "texture", "sound", "audio", "font", "openal", "steam") {
		return false // of the picture and the sound, which the simulation does not know
	}
	return containsAny(low, "failed to load", "failed to find", "failed to open", "failed to read", "failed to parse", "could not load", "could not find", "could not open", "could not read",
		"couldn't load", "couldn't find", "couldn't open", "couldn't read", "cannot load", "cannot find", "cannot open", "can't load", "can't find", "can't open", "unable to load", "unable to find",
		"unable to open", "error loading", "error parsing", "error reading", "not found", "no such file", "does not exist", "doesn't exist", "is missing", "missing file", "missing mod", "missing def", "missing template",
		"filenotfound", "parse error", "syntax error", "hash mismatch", "checksum mismatch", "version mismatch", "incompatible version", "wrong version", "corrupt")
}
