package snapshot

import (
	"strconv"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Some games identify an entity by a text, such as a UUID. The key of its row is a hash of the text, with a bit set
// that distinguishes it from numbers that games assign. Output should show the text, so it is looked up among the texts
// that this process has hashed. The table is the inverse of a function, so its result depends only on the key.

const (
	textKey      = 1 << 52 // set in keys that are hashes; the higher bits are clear
	mostKeyNames = 1 << 20
	longestName  = 128
)

// keyNames contains the texts of keys that are hashes.
var keyNames sync.Map // of uint64 to string

// keyNamesLeft limits the number of texts.
var keyNamesLeft = make(chan struct{}, mostKeyNames)

// TextKey returns the key part for a row that a text identifies.
func TextKey(text []byte) uint64 {
	key := HashedKey(text)
	if len(text) <= longestName {
		if _, known := keyNames.Load(key); !known {
			select {
			case keyNamesLeft <- struct{}{}:
				keyNames.Store(key, keyName(text))
			default:
			}
		}
	}
	return key
}

// HashedKey is like TextKey, for bytes that are never shown.
func HashedKey(b []byte) uint64 {
	h := uint64(0xcbf29ce484222325) // FNV-1a
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h&(textKey-1) | textKey
}

// keyName returns a text as shown among the parts of keys. It is in quotes if it could be mistaken for something else.
func keyName(text []byte) string {
	plain := len(text) > 0 && utf8.Valid(text) && (text[0] < '0' || text[0] > '9' || !digitsOnly(text))
	for _, r := range string(text) {
		plain = plain && r != '"' && r != ':' && r != ' ' && unicode.IsPrint(r)
	}
	if plain {
		return string(text)
	}
	return strconv.Quote(string(text))
}

func digitsOnly(text []byte) bool { return len(digitsOf(text)) == len(text) }

// partName returns a key part as shown to the user.
func partName(part uint64) string {
	if part>>52 == 1 {
		if name, ok := keyNames.Load(part); ok {
			return name.(string)
		}
	}
	return strconv.FormatUint(part, 10)
}
