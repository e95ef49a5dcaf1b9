package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Tokens is desynctool.desk-tokens/1: the tokens with access to a desk by HTTP, the oldest first, without their secrets.
type Tokens struct {
	document.Head
	Tokens []Token `json:"tokens"`
}

// Token is a token, without its secret.
type Token struct {
	Name    string     `json:"name"`
	Scope   desk.Scope `json:"scope"`
	Public  string     `json:"public"` // the part that is not secret
	Made    string     `json:"made"`   // time
	Revoked string     `json:"revoked,omitempty"`
}

// NewTokens returns the document of tokens.
func NewTokens(list []desk.Token) Tokens {
	x := Tokens{document.NewHead("desk-tokens", document.InSync, nil), []Token{}}
	for _, t := range list {
		x.Tokens = append(x.Tokens, Token{t.Name, t.Scope, t.Public, stamp(t.Made), stamp(t.Revoked)})
	}
	return x
}

// Text has a line for each token.
func (x Tokens) Text() string {
	return lines(x.Tokens, "No tokens.", func(t Token) string {
		return fmt.Sprintf("%-20s  %-6s  made %s%s", t.Name, t.Scope, t.Made, revoked(t.Revoked))
	})
}

// Audit is desynctool.desk-audit/1: the actions on a desk, newest first.
type Audit struct {
	document.Head
	Entries []AuditEntry `json:"entries"`
}

// AuditEntry is one action.
type AuditEntry struct {
	At    string `json:"at"`              // time, by the machine that acted
	Who   string `json:"who"`             // a token, a command, a command line's user, the tool
	What  string `json:"what"`            // upload, login, token added, or a group's change: merge, close …
	About string `json:"about,omitempty"` // a bundle's hash, a group's code, a token's name
}

// NewAudit returns the document of a list of actions.
func NewAudit(list []desk.Entry) Audit {
	x := Audit{document.NewHead("desk-audit", document.InSync, nil), []AuditEntry{}}
	for _, e := range list {
		x.Entries = append(x.Entries, AuditEntry{stamp(e.At), e.Who, e.What, e.About})
	}
	return x
}

// Text has a line for each entry.
func (x Audit) Text() string {
	return lines(x.Entries, "Nothing was done yet.", func(e AuditEntry) string {
		return fmt.Sprintf("%s  %-16s  %-16s  %s", e.At, e.Who, e.What, e.About)
	})
}

// Shares is desynctool.desk-shares/1: links for players, without their secrets.
type Shares struct {
	document.Head
	Links []ShareLink `json:"links"`
}

// ShareLink is a link for players, without its secret.
type ShareLink struct {
	Link    int64  `json:"link"`   // number that revokes it
	Report  int64  `json:"report"` // 0 if it was deleted
	Who     string `json:"who"`    // a token, or a command line's user
	Made    string `json:"made"`
	Revoked string `json:"revoked,omitempty"`
}

// NewShares returns the document of links.
func NewShares(list []desk.Share) Shares {
	x := Shares{document.NewHead("desk-shares", document.InSync, nil), []ShareLink{}}
	for _, s := range list {
		x.Links = append(x.Links, ShareLink{s.ID, s.Report, s.Who, stamp(s.Made), stamp(s.Revoked)})
	}
	return x
}

// Text has a line for each link.
func (x Shares) Text() string {
	return lines(x.Links, "No links.", func(s ShareLink) string {
		of := fmt.Sprintf("report %d", s.Report)
		if s.Report == 0 {
			of = "a report that was deleted"
		}
		return fmt.Sprintf("link %d  %s  by %s  made %s%s", s.Link, of, s.Who, s.Made, revoked(s.Revoked))
	})
}

// Webhooks is desynctool.desk-webhooks/1: addresses that receive news about groups, without their secrets.
type Webhooks struct {
	document.Head
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is an address that receives news about groups. It also counts the deliveries that wait, arrived, or were
// given up.
type Webhook struct {
	Webhook int64  `json:"webhook"` // number that removes it
	Address string `json:"address"` // the receiver's
	Private bool   `json:"private"` // private networks are allowed
	Made    string `json:"made"`
	Due     int64  `json:"due"`            // messages to send, or to send again
	Done    int64  `json:"done"`           // messages that arrived
	Failed  int64  `json:"failed"`         // messages that were given up
	Last    string `json:"last,omitempty"` // the last try's result
}

// NewWebhooks returns the document of webhooks.
func NewWebhooks(list []desk.Webhook) Webhooks {
	x := Webhooks{document.NewHead("desk-webhooks", document.InSync, nil), []Webhook{}}
	for _, w := range list {
		x.Webhooks = append(x.Webhooks, Webhook{w.ID, w.Address, w.Private, stamp(w.Made), w.Due, w.Done, w.Failed, w.Last})
	}
	return x
}

// Text has a line for each webhook.
func (x Webhooks) Text() string {
	return lines(x.Webhooks, "No webhooks.", func(w Webhook) string {
		text := fmt.Sprintf("webhook %d  %s  %d delivered, %d due, %d given up", w.Webhook, w.Address, w.Done, w.Due, w.Failed)
		if w.Last != "" {
			text += "; last: " + w.Last
		}
		return text
	})
}

// Uploads is desynctool.desk-uploads/1: unfinished uploads that were or would be dropped, first those that end first, without their secrets.
type Uploads struct {
	document.Head
	DryRun  bool     `json:"dry_run"` // nothing was dropped
	Uploads []Upload `json:"uploads"`
}

// Upload is an unfinished upload, without its secret.
type Upload struct {
	Who    string `json:"who"`               // the token
	Place  string `json:"address,omitempty"` // the sender's; of IPv6 the network of 64 bits; absent for this machine
	Name   string `json:"name"`              // of the file
	Synced int64  `json:"synced"`            // bytes that arrived
	Length int64  `json:"length"`            // bytes in all
	Until  string `json:"until"`             // it is dropped then in any case
}

// NewUploads returns the document of unfinished uploads.
func NewUploads(list []desk.Upload, dry bool) Uploads {
	x := Uploads{document.NewHead("desk-uploads", document.InSync, nil), dry, []Upload{}}
	for _, u := range list {
		x.Uploads = append(x.Uploads, Upload{u.Who, u.Place, u.Name, u.Synced, u.Length, stamp(u.Until)})
	}
	return x
}

// Text has a line for each upload, and their number.
func (x Uploads) Text() string {
	var bytes int64
	text := lines(x.Uploads, "No unfinished uploads.", func(u Upload) string {
		bytes += u.Synced
		return fmt.Sprintf("%-20s  %-16s  %s: %d of %d bytes, until %s", u.Who, cmp.Or(u.Place, "this machine"), u.Name, u.Synced, u.Length, u.Until)
	})
	if len(x.Uploads) == 0 {
		return text
	}
	what := "dropped"
	if x.DryRun {
		what = "would be dropped"
	}
	return text + fmt.Sprintf("%s %s, of %s.\n", prose.Count(len(x.Uploads), "upload", "uploads"), what, prose.Count(bytes, "byte", "bytes"))
}

// lines returns a line for each entry of a list, safe for a terminal, or none if the list is empty.
func lines[T any](list []T, none string, line func(T) string) string {
	if len(list) == 0 {
		return none + "\n"
	}
	var b strings.Builder
	for _, x := range list {
		b.WriteString(document.Safe(strings.TrimRight(line(x), " ")) + "\n")
	}
	return b.String()
}

func revoked(at string) string {
	if at == "" {
		return ""
	}
	return ", revoked " + at
}

// stamp formats a time to the second, empty for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
