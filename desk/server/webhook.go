package server

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/desk"
)

// Limits of deliveries. A try takes at most deliveryTime, and another process may try again after lease. After
// maxTries, which is about three days, a delivery is given up.
const (
	deliveryTime = 15 * time.Second
	lease        = time.Minute
	maxTries     = 20
	firstWait    = 10 * time.Second
	longestWait  = 6 * time.Hour
)

// message is the body of a webhook.
type message struct {
	Schema   string `json:"schema"`
	Delivery int64  `json:"delivery"` // the same in each try
	News     int64  `json:"news"`     // the same for all webhooks
	What     string `json:"what"`     // new or came-back
	At       string `json:"at"`
	Group    string `json:"group"`
	Title    string `json:"title"`
	Game     string `json:"game,omitempty"`
	Build    string `json:"build,omitempty"`
	Report   int64  `json:"report"`
	URL      string `json:"url"` // of the group
}

// webhookSchema identifies the format of a message.
const webhookSchema = "desynctool.desk.webhook/1"

// CheckWebhook returns an error if the address of a webhook is not valid.
func CheckWebhook(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("%.200q is not an address of a webhook: expected https://HOST/PATH without a user", address)
	}
	return nil
}

// Sign returns the header Desk-Signature for a message: sha256= and the HMAC-SHA-256 of the body in hex.
func Sign(secret string, body []byte) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

// Deliver sends all deliveries that are due, and returns when they were tried. Deliveries that fail are retried later.
func (d *Door) Deliver(ctx context.Context) error {
	var sent sync.WaitGroup
	defer sent.Wait()
	return d.deliver(ctx, &sent)
}

// deliver begins to send the deliveries that are due, without waiting. Each webhook gets one after the other, side by
// side with other webhooks, so that one that does not answer delays only its own.
func (d *Door) deliver(ctx context.Context, sent *sync.WaitGroup) error {
	due, err := d.Store.DueWebhooks(ctx)
	for _, webhook := range due {
		if _, busy := d.sending.LoadOrStore(webhook, true); !busy {
			sent.Go(func() {
				defer d.sending.Delete(webhook)
				if err := d.deliverTo(ctx, webhook); err != nil && ctx.Err() == nil {
					d.log.Printf("webhook %d: %s", webhook, label(err.Error()))
				}
			})
		}
	}
	return err
}

// deliverTo sends the deliveries of a webhook that are due.
func (d *Door) deliverTo(ctx context.Context, webhook int64) error {
	for ctx.Err() == nil {
		x, err := d.Store.ClaimDelivery(ctx, webhook, lease)
		if err != nil || x == nil {
			return err
		}
		answer, err := d.send(ctx, x)
		if ctx.Err() != nil {
			return nil // retried after the lease
		}
		var next time.Time
		failed := err != nil && x.Tries >= maxTries
		if err != nil {
			answer = label(err.Error())
			next = d.Store.Now().Add(backoff(x.Tries))
			d.log.Printf("webhook: delivery %d, try %d: %s", x.ID, x.Tries, answer)
		}
		if err := d.Store.EndDelivery(ctx, x.ID, next, failed, answer); err != nil {
			return err
		}
	}
	return nil
}

// backoff is how long to wait after a try, counted from 1.
func backoff(try int) time.Duration {
	return min(longestWait, firstWait<<min(try-1, 20))
}

// send sends a message once. It does not follow redirects and uses no proxy.
func (d *Door) send(ctx context.Context, x *desk.Delivery) (string, error) {
	if err := CheckWebhook(x.Address); err != nil {
		return "", err
	}
	n := x.News
	body, err := json.Marshal(message{webhookSchema, x.ID, n.ID, n.What, atomTime(n.At), n.Group, n.Title, n.Game, n.Build, n.Report, d.URL + "/groups/" + n.Group})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.Address, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("the address cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", desk.Tool)
	r.Header.Set("Desk-Delivery", strconv.FormatInt(x.ID, 10))
	r.Header.Set("Desk-Signature", Sign(x.Secret, body))
	dialer := &net.Dialer{Timeout: deliveryTime}
	if !x.Private {
		dialer.Control = onlyPublic
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	if err != nil {
		var at *url.Error // it contains the address, whose path may be secret
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10)
	if answer.StatusCode/100 != 2 {
		return "", fmt.Errorf("answered %d", answer.StatusCode)
	}
	return strconv.Itoa(answer.StatusCode), nil
}

// notPublic are networks without a method in netip.Addr.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),  // shared by customers of a provider
	netip.MustParsePrefix("192.0.0.0/24"),   // protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"),  // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, broadcast
	netip.MustParsePrefix("64:ff9b::/96"),   // IPv4 behind NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"), // the same, local
	netip.MustParsePrefix("2002::/16"),      // IPv4 in 6to4
	netip.MustParsePrefix("2001::/32"),      // IPv4 in Teredo
	netip.MustParsePrefix("fec0::/10"),      // site-local
}

// public reports whether an address is on the Internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// onlyPublic refuses to connect to addresses in local networks. It sees the address to which a name was resolved.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || !public(a) {
		return fmt.Errorf("%s is not an address of the Internet; --private allows it", host)
	}
	return nil
}
