package desk

import (
	"context"
	"encoding/json"
	"time"
)

// Tool is the name of the actor for automatic actions.
const Tool = "desynctool"

// What is a kind of edit of a group.
type What string

// The kinds of edits.
const (
	Merged   What = "merge"
	Split    What = "split"
	Moved    What = "move" // reports, by hand
	Named    What = "name"
	Closed   What = "close"
	Reopened What = "reopen"
	Ignored  What = "ignore"
	Noted    What = "note"
	Linked   What = "link"
	Undone   What = "undo"
	CameBack What = "came-back"
)

// Event is an edit of a group.
type Event struct {
	ID    int64
	At    time.Time
	Who   string // a person, a token, or Tool
	What  What
	Group int64
	About About
	// UndoneBy is the event that undid it, 0 if there is none.
	UndoneBy int64
}

// About contains the details of an event, and the data to undo it. Each What uses some of the fields.
type About struct {
	// Text is a note, a name, or the address of an issue. Build is the build in which it is fixed, or was seen again.
	Text  string `json:"text,omitempty"`
	Build string `json:"build,omitempty"`
	// Other is the code of the other group of a merge, a split or a move. The number is next to it.
	Other   string `json:"other,omitempty"`
	OtherID int64  `json:"other_id,omitempty"`
	// Variants, Keys and Reports were moved.
	Variants []int64       `json:"variants,omitempty"`
	Keys     []string      `json:"keys,omitempty"`
	Reports  []MovedReport `json:"reports,omitempty"`
	// Before is the state before the event.
	Before *Before `json:"before,omitempty"`
	// Event is the event that was undone. Undid is its kind.
	Event int64 `json:"event,omitempty"`
	Undid What  `json:"undid,omitempty"`
}

// MovedReport is a report that was moved by hand, with its previous variant.
type MovedReport struct {
	Report  int64 `json:"report"`
	Variant int64 `json:"variant"`
	Pinned  bool  `json:"pinned,omitempty"`
}

// Before is the state of a group before an event.
type Before struct {
	Name     string     `json:"name,omitempty"`
	State    GroupState `json:"state,omitempty"`
	FixedIn  string     `json:"fixed_in,omitempty"`
	CameBack string     `json:"came_back,omitempty"`
}

// GroupState is the state that people gave a group.
type GroupState string

// States of groups.
const (
	GroupOpen    GroupState = "open"
	GroupClosed  GroupState = "closed"
	GroupIgnored GroupState = "ignored"
	GroupMerged  GroupState = "merged" // it has no variants any more; another group has them
)

// Event writes an event, and returns its number.
func (tx *Tx) Event(ctx context.Context, e Event) (id int64, err error) {
	about, err := json.Marshal(e.About)
	if err != nil {
		return 0, err
	}
	err = tx.row(ctx, "event.insert", []any{tx.store.Now().UnixMicro(), e.Who, e.What, e.Group, string(about)}, &id)
	return id, err
}

// scanEvent reads the columns of an event.
func scanEvent(scan func(dest ...any) error) (e Event, err error) {
	var at int64
	var about string
	if err := scan(&e.ID, &at, &e.Who, &e.What, &e.Group, &about, &e.UndoneBy); err != nil {
		return e, err
	}
	e.At = time.UnixMicro(at).UTC()
	return e, json.Unmarshal([]byte(about), &e.About)
}
