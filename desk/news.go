package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"
)

// Kinds of news.
const (
	NewGroup  = "new"       // a group that was not there before
	GroupBack = "came-back" // a group that was closed and is open again
)

// News reports that a group is new, or came back.
type News struct {
	ID     int64
	At     time.Time // time of the report that caused it
	What   string    // NewGroup or GroupBack
	Group  string    // its code
	Title  string    // or its name
	Game   string
	Build  string // of the report, may be empty
	Report int64
}

// tell writes news, and a delivery for each webhook. It is part of the transaction that causes the news.
func (tx *Tx) tell(ctx context.Context, what string, group, report int64, build string) error {
	now := tx.store.Now().UnixMicro()
	var id int64
	if err := tx.row(ctx, "news.insert", []any{now, what, group, report, build}, &id); err != nil {
		return err
	}
	_, err := tx.run(ctx, "news.deliver", id, now)
	return err
}

// newsColumns are the destinations for the columns of a news row.
func newsColumns(n *News) []any {
	return []any{(*moment)(&n.At), &n.What, &n.Group, &n.Title, &n.Game, &n.Build, &n.Report}
}

// News returns the last news, most at most, newest first.
func (s *Store) News(ctx context.Context, most int) (list []News, err error) {
	return rowsOf(ctx, s, func(n *News) []any { return append([]any{&n.ID}, newsColumns(n)...) }, "news.list", most)
}

// Webhook is an address that receives news.
type Webhook struct {
	ID      int64
	Address string
	Private bool // it may be in the local network
	Made    time.Time
	// Due, Done and Failed count deliveries that wait, arrived, or were given up.
	Due, Done, Failed int64
	Last              string // result of the last try, empty if there was none
}

// AddWebhook sends news to an address from now on, signed with the secret.
func (s *Store) AddWebhook(ctx context.Context, who string, w Webhook, secret string) (id int64, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		if err := tx.row(ctx, "webhook.insert", []any{w.Address, secret, w.Private, s.Now().UnixMicro()}, &id); err != nil {
			return err
		}
		return tx.Audit(ctx, who, "webhook added", strconv.FormatInt(id, 10))
	})
	return id, err
}

// NewSecret returns a secret of 32 random bytes, in the URL alphabet of base64.
func NewSecret() string { return randomText(32) }

// Webhooks returns all webhooks, in the order in which they were added.
func (s *Store) Webhooks(ctx context.Context) (list []Webhook, err error) {
	return rowsOf(ctx, s, func(w *Webhook) []any {
		return []any{&w.ID, &w.Address, &w.Private, (*moment)(&w.Made), new(int64), &w.Due, &w.Done, &w.Failed, &w.Last} // one is when it was removed
	}, "webhook.list")
}

// RemoveWebhook removes a webhook. The error is fs.ErrNotExist if there is none with that number.
func (s *Store) RemoveWebhook(ctx context.Context, who string, id int64) error {
	return s.Write(ctx, func(tx *Tx) error {
		n, err := tx.run(ctx, "webhook.remove", id, s.Now().UnixMicro())
		if err == nil && n == 0 {
			err = fmt.Errorf("webhook %d: %w", id, fs.ErrNotExist)
		}
		if err != nil {
			return err
		}
		if _, err := tx.run(ctx, "webhook.drop-due", id); err != nil {
			return err
		}
		return tx.Audit(ctx, who, "webhook removed", strconv.FormatInt(id, 10))
	})
}

// Delivery is news to send to a webhook.
type Delivery struct {
	ID      int64
	Tries   int // including this one
	Address string
	Secret  string
	Private bool
	News    News
}

// DueWebhooks returns the numbers of the webhooks that have deliveries due.
func (s *Store) DueWebhooks(ctx context.Context) ([]int64, error) {
	return valuesOf[int64](ctx, s, "delivery.webhooks", s.Now().UnixMicro())
}

// ClaimDelivery claims a delivery of a webhook that is due. No other process can claim it during the lease. It returns
// nil if there is none.
func (s *Store) ClaimDelivery(ctx context.Context, webhook int64, lease time.Duration) (d *Delivery, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		d = &Delivery{}
		now := s.Now()
		var news int64
		err := tx.row(ctx, "delivery.claim", []any{now.UnixMicro(), now.Add(lease).UnixMicro(), webhook}, &d.ID, &news, &d.Tries)
		if errors.Is(err, sql.ErrNoRows) {
			d = nil
			return nil
		}
		if err != nil {
			return err
		}
		d.News.ID = news
		return tx.row(ctx, "delivery.about", []any{webhook, news}, append([]any{&d.Address, &d.Secret, &d.Private}, newsColumns(&d.News)...)...)
	})
	return d, err
}

// EndDelivery records the result of a try. If failed is set, the delivery is given up. Otherwise it arrived if next is
// zero, and is retried at next if not.
func (s *Store) EndDelivery(ctx context.Context, id int64, next time.Time, failed bool, last string) error {
	state, at := "due", next.UnixMicro()
	switch {
	case failed:
		state, at = "failed", 0
	case next.IsZero():
		state, at = "done", 0
	}
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "delivery.end", id, state, at, last)
		return err
	})
}
