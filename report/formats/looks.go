package formats

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// kinds are files that people send and that are not read, by their leading bytes.
var kinds = []struct{ magic, what string }{
	{"\x89PNG\r\n\x1a\n", "an image (PNG): send the text itself, or the file"},
	{"\xff\xd8\xff", "an image (JPEG): send the text itself, or the file"},
	{"GIF8", "an image (GIF): send the text itself, or the file"},
	{"BM", "an image (BMP): send the text itself, or the file"},
	{"\x00\x00\x01\x00", "an image (icon)"},
	{"\x7fELF", "an executable (ELF)"},
	{"MZ", "an executable (Windows)"},
	{"\xcf\xfa\xed\xfe", "an executable (Mach-O)"},
	{"\xce\xfa\xed\xfe", "an executable (Mach-O)"},
	{"\xca\xfe\xba\xbe", "an executable (Mach-O or Java)"},
	{"7z\xbc\xaf\x27\x1c", "an archive (7z) that is not read; unpack it to a folder"},
	{"Rar!\x1a\x07", "an archive (RAR) that is not read; unpack it to a folder"},
	{"BZh", "packed with bzip2, which is not read; unpack it"},
	{"\x04\x22\x4d\x18", "packed with LZ4, which is not read; unpack it"},
	{"MSCF", "an archive (cabinet) that is not read; unpack it to a folder"},
	{"%PDF-", "a PDF document"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"MDMP", "a crash dump (minidump): it shows a crash, not a desync"},
	{"PAGEDU", "a crash dump of Windows"},
	{"{\\rtf", "a text in Rich Text Format: save it as plain text"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document: save it as plain text"},
	{"OggS", "sound or video (Ogg)"},
	{"ID3", "sound (MP3)"},
	{"\x1aE\xdf\xa3", "a video (Matroska)"},
}

// Looks describes by its leading bytes what a file of no known format looks like: an image, an executable, a text and
// its encoding, "a binary file" where nothing else is known.
func Looks(head []byte) string {
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.magic)) && (len(k.magic) > 2 || bytes.IndexByte(head, 0) >= 0) {
			return k.what
		}
	}
	switch {
	case len(head) > 11 && (string(head[4:8]) == "ftyp"):
		return "a video (MP4)"
	case len(head) > 11 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "an image (WebP): send the text itself, or the file"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "text in UTF-16"
	}
	lower := bytes.ToLower(bytes.TrimLeft(head[:min(len(head), 512)], " \t\r\n\xef\xbb\xbf"))
	odd := 0
	for _, b := range head {
		if b == 0 {
			return "a binary file"
		}
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b {
			odd++
		}
	}
	switch {
	case odd > len(head)/16:
		return "a binary file"
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")):
		return "a web page, perhaps of a site that shows pasted text: give what it shows as plain text"
	case !utf8.Valid(head) && !utf8.Valid(head[:max(0, len(head)-3)]):
		return "text, neither in UTF-8 nor UTF-16" + beginning(head)
	}
	return "text" + beginning(head)
}

// beginning quotes the first line of a text.
func beginning(head []byte) string {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return fmt.Sprintf(", its first line is %.60q", line)
		}
	}
	return " of blanks"
}
