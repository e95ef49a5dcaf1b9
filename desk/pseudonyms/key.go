package pseudonyms

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// KeySize is how many bytes a key has.
const KeySize = 32

// Key is the secret for pseudonyms. It has no method that converts it to text by accident; Text returns the content of
// its file.
type Key struct{ secret [KeySize]byte }

// keyPrefix begins the only line of a key file.
const keyPrefix = "desynctool-names-key-1 "

// NewKey returns a new key.
func NewKey() *Key {
	k := &Key{}
	_, _ = rand.Read(k.secret[:]) // it does not fail
	return k
}

// ParseKey parses the output of Text. Errors contain name, the name of the file, but never a part of the key.
func ParseKey(text, name string) (*Key, error) {
	rest, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), keyPrefix)
	if !ok {
		return nil, fmt.Errorf("%s: not a key: expected a line that begins with %q", name, strings.TrimSpace(keyPrefix))
	}
	k := &Key{}
	if n, err := hex.Decode(k.secret[:], []byte(rest[:min(len(rest), 2*KeySize)])); err != nil || n != KeySize || len(rest) != 2*KeySize {
		return nil, fmt.Errorf("%s: not a key: expected %d hex digits after %q", name, 2*KeySize, strings.TrimSpace(keyPrefix))
	}
	return k, nil
}

// Text returns the content of the key's file: "desynctool-names-key-1 ", 64 lower-case hex digits, a line end.
func (k *Key) Text() string { return keyPrefix + hex.EncodeToString(k.secret[:]) + "\n" }

// LoadKey reads the key from a file.
func LoadKey(path string) (*Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := stat.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s: other users of this machine may read it (mode %04o): expected mode 0600", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, err
	}
	return ParseKey(string(text), path)
}

// EnsureKey reads the key from a file. If the file does not exist, it creates it with mode 0600. If several processes
// create it at once, one succeeds, and all use its key. An existing file is never written.
func EnsureKey(path string) (*Key, error) {
	k, err := LoadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".desynctool-key-") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(NewKey().Text())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // where folders can be synced
		dir.Close()
	}
	return LoadKey(path)
}

// ID identifies a key without revealing anything about it: 8 hex digits. A store records the ID of the key for its
// pseudonyms.
func (k *Key) ID() string { return k.digest("id", "")[:8] }

// Player returns the pseudonym of a player: "player-" and 10 hex digits. It is the same for names that are equal in
// Unicode's form C without surrounding blanks. Names that differ in case belong to different players, as in most games;
// the first six digits are the same for them, so that a name is found in the name of a file, whatever its capitals. An
// empty name, and a name that [IsRole] accepts, stay.
func (k *Key) Player(name string) string {
	if IsRole(name) {
		return name
	}
	name = canonical(name)
	return player + k.digest("like", like(name))[:likeDigits] + k.digest(player, name)[:digits-likeDigits]
}

// Address returns the pseudonym of an address: "address-" and 10 hex digits. A text that [IsRole] accepts stays.
func (k *Key) Address(text string) string {
	if IsRole(text) {
		return text
	}
	return address + k.digest(address, canonical(text))[:digits]
}

// Pseudonyms begin with their kind.
const (
	player     = "player-"
	address    = "address-"
	digits     = 10 // of a pseudonym: among a million players, two have the same one with a probability of a third
	likeDigits = 6  // of these that are the same whatever the capitals and signs of a name
)

func canonical(name string) string { return norm.NFC.String(strings.TrimSpace(name)) }

// like returns a name without its capitals, and with blanks instead of the signs that file names have for them.
func like(name string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return ' '
		}
		return unicode.ToLower(unicode.ToUpper(r)) // ς and σ have one capital
	}, name))
}

// digest returns an HMAC in hex digits. what separates the uses of a key.
func (k *Key) digest(what, text string) string {
	mac := hmac.New(sha256.New, k.secret[:])
	io.WriteString(mac, what+"\x00"+text)
	return hex.EncodeToString(mac.Sum(nil))
}
