package desk

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Scope is the permission of a token.
type Scope string

// Scopes of tokens. Scope triage includes the others.
const (
	ScopeUpload Scope = "upload" // send bundles, and query their state
	ScopeRead   Scope = "read"   // read everything
	ScopeTriage Scope = "triage" // merge, close, share and so on; read; send bundles
)

// Scopes are all scopes.
var Scopes = []Scope{ScopeUpload, ScopeRead, ScopeTriage}

// Allows reports whether a token with this scope has the permissions of another scope.
func (s Scope) Allows(what Scope) bool { return s == what || s == ScopeTriage }

// Token is a token, without its secret.
type Token struct {
	ID      int64
	Public  string // its public part, with which it is found, 16 hex digits
	Name    string
	Scope   Scope
	Made    time.Time
	Revoked time.Time // zero if it is valid
}

// A token is desk_, 16 hex digits with which its row is found, an underscore, and 32 random bytes in the URL alphabet
// of base64. The store contains the SHA-256 of the part after the last underscore.
const tokenStart = "desk_"

var tokenForm = lazyregexp.New(`^desk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$`)

var tokenName = lazyregexp.New(`^[\pL\pN][\pL\pN ._@+-]{0,63}$`)

// randomText returns n random bytes in the URL alphabet of base64.
func randomText(n int) string {
	b := make([]byte, n)
	rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashOf returns the form of a secret in the store. Secrets have at least 128 random bits, so no slower hash is needed.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func scanToken(scan func(...any) error, more ...any) (*Token, error) {
	t := &Token{}
	return t, scan(append([]any{&t.ID, &t.Public, &t.Name, &t.Scope, (*moment)(&t.Made), (*moment)(&t.Revoked)}, more...)...)
}

// readToken reads the columns of a token.
func readToken(scan func(...any) error) (*Token, error) { return scanToken(scan) }

// moment is the destination for a time, which the database has in microseconds, 0 for none.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(from any) error {
	n, ok := from.(int64)
	if !ok {
		return fmt.Errorf("%T, expected a number of microseconds", from)
	}
	if *m = (moment{}); n != 0 {
		*m = moment(time.UnixMicro(n).UTC())
	}
	return nil
}

// AddToken creates a token and returns it with its secret, which cannot be retrieved later. If there is a valid token
// with that name, the error is fs.ErrExist.
func (s *Store) AddToken(ctx context.Context, who, name string, scope Scope) (secret string, err error) {
	if !tokenName.MatchString(name) {
		return "", fmt.Errorf("%.80q is not a name of a token: expected up to 64 letters, digits, spaces and . _ @ + -", name)
	}
	if !scope.known() {
		return "", fmt.Errorf("%q is not a scope: expected upload, read or triage", scope)
	}
	public := make([]byte, 8)
	rand.Read(public)
	part := randomText(32)
	err = s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.token(ctx, "token.named", name); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = fmt.Errorf("a token is called %q already: %w", name, fs.ErrExist)
			}
			return err
		}
		var id int64
		if err := tx.row(ctx, "token.insert", []any{hex.EncodeToString(public), hashOf(part), name, scope, s.Now().UnixMicro()}, &id); err != nil {
			return err
		}
		return tx.Audit(ctx, who, "token added", name+", "+string(scope))
	})
	return tokenStart + hex.EncodeToString(public) + "_" + part, err
}

func (s Scope) known() bool { return s == ScopeUpload || s == ScopeRead || s == ScopeTriage }

func (tx *Tx) token(ctx context.Context, statement string, arg any) (t *Token, err error) {
	return readOne(ctx, tx, fmt.Sprintf("token %v", arg), readToken, statement, arg)
}

// RevokeToken revokes a token, by its name, and ends the browser sessions that logged in with it. The error is
// fs.ErrNotExist if there is no valid token with the name.
func (s *Store) RevokeToken(ctx context.Context, who, name string) error {
	return s.Write(ctx, func(tx *Tx) error {
		t, err := tx.token(ctx, "token.named", name)
		if err != nil {
			return err
		}
		if _, err := tx.run(ctx, "token.revoke", t.ID, s.Now().UnixMicro()); err != nil {
			return err
		}
		if _, err := tx.run(ctx, "session.delete-of", t.ID); err != nil {
			return err
		}
		if _, err := tx.run(ctx, "upload.drop-of", name); err != nil {
			return err
		}
		return tx.Audit(ctx, who, "token revoked", name)
	})
}

// Tokens returns all tokens in the order of their creation, including revoked ones.
func (s *Store) Tokens(ctx context.Context) (list []Token, err error) {
	return readRows(ctx, s, func(scan func(...any) error) (Token, error) {
		t, err := scanToken(scan)
		return *t, err
	}, "token.list")
}

// HasTokens reports whether a token was ever created, and whether one is valid.
func (s *Store) HasTokens(ctx context.Context) (ever, valid bool, err error) {
	var made, left int
	err = s.row(ctx, "token.any", nil, &made)
	if err == nil {
		err = s.row(ctx, "token.valid", nil, &left)
	}
	return made > 0, left > 0, err
}

// TokenOf returns the token with a secret. The error is fs.ErrNotExist if there is none, or it was revoked.
func (s *Store) TokenOf(ctx context.Context, secret string) (*Token, error) {
	none := fmt.Errorf("token: %w", fs.ErrNotExist)
	m := tokenForm.FindStringSubmatch(secret)
	if m == nil {
		return nil, none
	}
	var t *Token
	var hash string
	err := s.each(ctx, "token.find", []any{m[1]}, func(scan func(...any) error) (err error) {
		t, err = scanToken(scan, &hash)
		return err
	})
	if err != nil {
		return nil, err
	}
	if t == nil || subtle.ConstantTimeCompare([]byte(hash), []byte(hashOf(m[2]))) != 1 || !t.Revoked.IsZero() {
		return nil, none
	}
	return t, nil
}

// Login starts a browser session, and returns the value of its cookie.
func (s *Store) Login(ctx context.Context, t *Token, until time.Time) (cookie string, err error) {
	cookie = randomText(32)
	err = s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.run(ctx, "session.delete-old", s.Now().UnixMicro()); err != nil {
			return err
		}
		if _, err := tx.run(ctx, "session.insert", hashOf(cookie), t.ID, until.UnixMicro()); err != nil {
			return err
		}
		return tx.Audit(ctx, t.Name, "login", "")
	})
	return cookie, err
}

// SessionOf returns the token of a session. The error is fs.ErrNotExist if the session is over.
func (s *Store) SessionOf(ctx context.Context, cookie string) (t *Token, err error) {
	return readOne(ctx, s, "session", readToken, "session.find", hashOf(cookie), s.Now().UnixMicro())
}

// Logout ends a session.
func (s *Store) Logout(ctx context.Context, cookie string) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "session.delete", hashOf(cookie))
		return err
	})
}

// setting returns a named setting of the desk. If there is none yet, it stores the result of make.
func (s *Store) setting(ctx context.Context, name string, make func() string) (value string, err error) {
	err = s.row(ctx, "setting.get", []any{name}, &value)
	if !errors.Is(err, sql.ErrNoRows) {
		return value, err
	}
	err = s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.run(ctx, "setting.insert", name, make()); err != nil {
			return err
		}
		return tx.row(ctx, "setting.get", []any{name}, &value)
	})
	return value, err
}

// Identity is a random text that is unique to the desk and never changes.
func (s *Store) Identity(ctx context.Context) (string, error) {
	return s.setting(ctx, "identity", func() string { return strings.ToLower(rand.Text()) })
}

// NamesKey returns the ID of the key for the desk's pseudonyms. If there is none yet, it stores the given one.
func (s *Store) NamesKey(ctx context.Context, id string) (string, error) {
	return s.setting(ctx, "names-key", func() string { return id })
}
