package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/desynctool/desynctool/desk"
)

// Visitor is who makes a request.
type Visitor struct {
	// Name is that of the token, Local where the desk is open, empty for nobody.
	Name                 string
	Upload, Read, Triage bool // what the visitor may do

	how    how
	secret string // of the session
	csrf   string
}

// Local is the name of visitors to a desk that is open to this machine.
const Local = "local"

// how is by what a visitor is known.
type how int

const (
	asNobody how = iota
	byBearer
	byBasic
	byCookie
	asLocal
)

// may reports whether a visitor may do what a scope is for.
func (v *Visitor) may(scope desk.Scope) bool {
	switch scope {
	case desk.ScopeUpload:
		return v.Upload
	case desk.ScopeRead:
		return v.Read
	case desk.ScopeTriage:
		return v.Triage
	}
	return false
}

// CSRF is what a form of a page that this visitor sees has in its hidden field csrf, and what a script
// sends as X-CSRF-Token. It is empty for visitors whose browser does not send by itself what they are known by.
func (v *Visitor) CSRF() string { return v.csrf }

// LoggedIn reports whether it is a browser with a session, which POST /logout ends.
func (v *Visitor) LoggedIn() bool { return v.how == byCookie }

// csrfOf derives the token of a session.
func csrfOf(key []byte, session string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("csrf\x00" + session))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

type visitorKey struct{}

// VisitorOf returns who made the request of a context. A request that came through no Door is of
// nobody, who may do nothing.
func VisitorOf(ctx context.Context) *Visitor {
	if v, ok := ctx.Value(visitorKey{}).(*Visitor); ok {
		return v
	}
	return &Visitor{}
}

func withVisitor(ctx context.Context, v *Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// visitor of a token.
func visitorOf(t *desk.Token, by how) *Visitor {
	return &Visitor{
		Name:   t.Name,
		Upload: t.Scope.Allows(desk.ScopeUpload), Read: t.Scope.Allows(desk.ScopeRead), Triage: t.Scope.Allows(desk.ScopeTriage),
		how: by,
	}
}
