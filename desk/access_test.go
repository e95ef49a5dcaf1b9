//go:build unix

package desk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
)

// TestTokens: a token is known by its secret alone, until it is revoked; the store does not have the secret.
func TestTokens(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx, s := context.Background(), open(t, where)
		if ever, valid, err := s.HasTokens(ctx); ever || valid || err != nil {
			t.Fatal(ever, valid, err)
		}
		secret, err := s.AddToken(ctx, "root", "ci", desk.ScopeUpload)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AddToken(ctx, "root", "ci", desk.ScopeRead); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		for _, name := range []string{"", "a\nb", "<x>", strings.Repeat("x", 65)} {
			if _, err := s.AddToken(ctx, "root", name, desk.ScopeRead); err == nil {
				t.Errorf("%q is a name", name)
			}
		}
		got, err := s.TokenOf(ctx, secret)
		if err != nil || got.Name != "ci" || got.Scope != desk.ScopeUpload {
			t.Fatal(got, err)
		}
		changed := "A"
		if strings.HasSuffix(secret, "A") {
			changed = "B"
		}
		for _, wrong := range []string{"", secret[:len(secret)-1] + changed, secret + "x", strings.ToUpper(secret), secret[:22] + strings.Repeat("A", 43)} {
			if _, err := s.TokenOf(ctx, wrong); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", wrong, err)
			}
		}
		cookie, err := s.Login(ctx, got, s.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if in, err := s.SessionOf(ctx, cookie); err != nil || in.Name != "ci" {
			t.Fatal(in, err)
		}
		over, err := s.Login(ctx, got, s.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.SessionOf(ctx, over); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		for _, table := range []string{"tokens", "sessions", "audit"} {
			if text := dumpTable(t, s, table); strings.Contains(text, secret[22:]) || strings.Contains(text, cookie) {
				t.Errorf("%s holds a secret: %s", table, text)
			}
		}
		if err := s.RevokeToken(ctx, "root", "ci"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.TokenOf(ctx, secret); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := s.SessionOf(ctx, cookie); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if ever, valid, err := s.HasTokens(ctx); !ever || valid || err != nil {
			t.Error(ever, valid, err)
		}
		list, _, err := s.AuditList(ctx, desk.AuditMark{}, 10)
		if err != nil || len(list) != 4 || list[0].What != "token revoked" || list[3].What != "token added" || list[3].About != "ci, upload" {
			t.Error(list, err)
		}
	})
}

// dumpTable returns all values of a table.
func dumpTable(t *testing.T, s *desk.Store, table string) string {
	t.Helper()
	rows, err := s.DB().Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Join(values, " "))
	}
	if len(all) == 0 {
		t.Errorf("%s is empty", table)
	}
	return strings.Join(all, "\n")
}

// TestShares: a link shows its report and no other one, also if numbers are used again.
func TestShares(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx, s := context.Background(), open(t, where)
		a, _ := receive(t, s, "a")
		both := put(t, s, a.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux"), diverged("Movement", "Position.x", "", "1.4.2", "linux"))
		secret, err := s.Share(ctx, "ann", both[1].Report)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := s.Shared(ctx, secret); err != nil || id != both[1].Report {
			t.Fatal(id, err)
		}
		put(t, s, a.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux")) // the second match is gone
		b, _ := receive(t, s, "b")
		put(t, s, b.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux")) // and its number may be used again
		if id, err := s.Shared(ctx, secret); !errors.Is(err, fs.ErrNotExist) {
			t.Error(id, err)
		}
		put(t, s, a.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux"), diverged("Movement", "Position.x", "", "1.4.2", "linux"))
		if _, err := s.Shared(ctx, secret); err != nil {
			t.Error(err)
		}
		list, err := s.Shares(ctx)
		if err != nil || len(list) != 1 || list[0].Who != "ann" || list[0].Report == 0 {
			t.Fatal(list, err)
		}
		if err := s.Unshare(ctx, "ann", list[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := s.Unshare(ctx, "ann", list[0].ID); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := s.Shared(ctx, secret); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := s.Share(ctx, "ann", 99); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}

// TestNews: a group is news once, and for each webhook there is a delivery, written with the report: a
// transaction that is rolled back leaves neither.
func TestNews(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx, s := context.Background(), open(t, where)
		a, _ := receive(t, s, "a")
		hook, err := s.AddWebhook(ctx, "ann", desk.Webhook{Address: "https://hooks.example.org/1"}, "key")
		if err != nil {
			t.Fatal(err)
		}
		undone := errors.New("undone")
		err = s.Write(ctx, func(tx *desk.Tx) error {
			if _, err := tx.Put(ctx, a.ID, "test", []desk.Reading{{Report: diverged("Combat", "Health.hp", "s1", "1.4.2", "linux")}}); err != nil {
				return err
			}
			return undone
		})
		if list, err2 := s.News(ctx, 10); err != undone || len(list) != 0 || err2 != nil {
			t.Fatal(err, list, err2)
		}
		c := put(t, s, a.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux"))
		b, _ := receive(t, s, "b")
		put(t, s, b.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux"))
		list, err := s.News(ctx, 10)
		if err != nil || len(list) != 1 || list[0].What != desk.NewGroup || list[0].Group != c[0].Group || list[0].Build != "1.4.2" || list[0].Game != "arena" || list[0].Report != c[0].Report {
			t.Fatal(list, err)
		}
		if due, err := s.DueWebhooks(ctx); err != nil || !slices.Equal(due, []int64{hook}) {
			t.Fatal(due, err)
		}
		d, err := s.ClaimDelivery(ctx, hook, time.Minute)
		if err != nil || d == nil || d.Tries != 1 || d.Secret != "key" || d.News != list[0] {
			t.Fatal(d, err)
		}
		if again, err := s.ClaimDelivery(ctx, hook, time.Minute); again != nil || err != nil {
			t.Fatal("it was claimed twice", again, err)
		}
		if err := s.EndDelivery(ctx, d.ID, s.Now(), false, "503"); err != nil { // to be tried at once
			t.Fatal(err)
		}
		if d, err = s.ClaimDelivery(ctx, hook, time.Minute); err != nil || d == nil || d.Tries != 2 {
			t.Fatal(d, err)
		}
		if err := s.EndDelivery(ctx, d.ID, time.Time{}, false, "200"); err != nil {
			t.Fatal(err)
		}
		hooks, err := s.Webhooks(ctx)
		if err != nil || len(hooks) != 1 || hooks[0].Done != 1 || hooks[0].Due != 0 || hooks[0].Last != "200" {
			t.Fatal(hooks, err)
		}
		if err := s.RemoveWebhook(ctx, "ann", hook); err != nil {
			t.Fatal(err)
		}
	})
}

// TestManyReceipts: of a bundle that comes again and again the first receipts are kept.
func TestManyReceipts(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		for range 230 {
			receive(t, s, "a")
		}
		for query, want := range map[string]int{"SELECT count(*) FROM receipts": 200, "SELECT times FROM bundles": 230} {
			var n int
			if err := s.DB().QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d %v", query, n, err)
			}
		}
	})
}

// TestAuditPages: page by page the audit is all that was done, each once, the last first of each kind, also where the clock went back.
func TestAuditPages(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s, err := desk.Open(ctx, where, desk.Options{Create: true, Unsynced: true, Now: func() time.Time { return clock }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		const each = 7
		for i := range each {
			clock = clock.Add(time.Duration(i%4-1) * time.Hour)
			err := s.Write(ctx, func(tx *desk.Tx) error {
				hash := fmt.Sprintf("%064d", i)
				if _, _, err := tx.Receive(ctx, desk.Bundle{Hash: hash, Name: "a", Bytes: 1, Kept: hash, KeptBytes: 1}, desk.Receipt{Name: "a", Source: "ci"}); err != nil {
					return err
				}
				if _, err := tx.Event(ctx, desk.Event{Who: fmt.Sprint("e", i), What: desk.Forgot}); err != nil {
					return err
				}
				return tx.Audit(ctx, fmt.Sprint("a", i), "login", "")
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		whole, next, err := s.AuditList(ctx, desk.AuditMark{}, 100)
		if err != nil || len(whole) != 3*each || next != (desk.AuditMark{}) {
			t.Fatal(len(whole), next, err)
		}
		for _, size := range []int{1, 2, 5, 3*each - 1, 3 * each} {
			var all []desk.Entry
			pages := 0
			for from := (desk.AuditMark{}); pages <= 3*each; {
				list, next, err := s.AuditList(ctx, from, size)
				if err != nil || len(list) > size {
					t.Fatal(len(list), err)
				}
				all, pages = append(all, list...), pages+1
				if next == (desk.AuditMark{}) {
					break
				}
				if from, err = desk.ParseAuditMark(next.String()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(all, whole) || pages != (3*each+size-1)/size {
				t.Errorf("%d at a time: %d entries in %d pages", size, len(all), pages)
			}
		}
		for _, text := range []string{"x", "1.2", "1.2.3.4", "0.1.1", "-1.2.3", "1.2.3 ", "01.2.3"} {
			if m, err := desk.ParseAuditMark(text); err == nil {
				t.Errorf("%q is %v", text, m)
			}
		}
	})
}
