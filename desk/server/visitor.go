package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/desynctool/desynctool/desk"
)

// Visitor identifies the sender of a request.
type Visitor struct {
	// Name is the name of the token, Local if the desk is open, empty for an unknown visitor.
	Name                 string
	Upload, Read, Triage bool // permissions

	how    how
	secret string // of the session
	csrf   string
}

// Local is the name of visitors to a desk that is open to this machine.
const Local = "local"

// how is the kind of a visitor's credential.
type how int

const (
	asNobody how = iota
	byBearer
	byBasic
	byCookie
	asLocal
)

// may reports whether a visitor has the permissions of a scope.
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

// CSRF is the value for the hidden field csrf in this visitor's forms, and for the header X-CSRF-Token in scripts. It
// is empty for visitors whose credential a browser does not send automatically.
func (v *Visitor) CSRF() string { return v.csrf }

// LoggedIn reports whether the visitor is a browser with a session, which POST /logout ends.
func (v *Visitor) LoggedIn() bool { return v.how == byCookie }

// csrfOf derives the token of a session.
func csrfOf(key []byte, session string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("csrf\x00" + session))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

type visitorKey struct{}

// VisitorOf returns the visitor of a request's context. A request that did not come through a Door has an unknown
// visitor without permissions.
func VisitorOf(ctx context.Context) *Visitor {
	if v, ok := ctx.Value(visitorKey{}).(*Visitor); ok {
		return v
	}
	return &Visitor{}
}

func withVisitor(ctx context.Context, v *Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// visitorOf returns the visitor of a token.
func visitorOf(t *desk.Token, by how) *Visitor {
	return &Visitor{
		Name:   t.Name,
		Upload: t.Scope.Allows(desk.ScopeUpload), Read: t.Scope.Allows(desk.ScopeRead), Triage: t.Scope.Allows(desk.ScopeTriage),
		how: by,
	}
}
