package words

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/verdict"
)

func inputs(c *verdict.Conclusion) (found, evidence string) {
	in := &c.Inputs
	switch in.State {
	case verdict.InputsUnknown:
		if c.Runs == verdict.RunsOfSelfTest {
			return "equal", "one machine computed the same twice"
		}
		return "not compared", ""
	case verdict.InputsAlone:
		return "not compared", fmt.Sprintf("only %s left a log", prose.Name(c.OwnReplay.Peer))
	case verdict.InputsApart:
		return "not compared", "no two logs cover a common tick"
	case verdict.InputsSameSoFar:
		return "equal as far as they are there", logs(in) + " were compared"
	case verdict.InputsSameUntil:
		return "equal until the states diverged", fmt.Sprintf("%s; later %s, the first: %s", logs(in), prose.Count(in.Count, "order differs", "orders differ"), Difference(&in.Differences[0]))
	case verdict.InputsSame:
		return "equal", logs(in)
	case verdict.InputsOther:
		switch {
		case in.Parting == nil && in.Replayed:
			return "differ", "the replays of the peers' own orders differ from each other"
		case in.Parting == nil:
			return "differ", in.Basis
		}
		return prose.Count(in.Count, "order differs", "orders differ"), partingOrder(in)
	case verdict.InputsLogs:
		return "the logs differ", Difference(in.Parting) + "; " + unborne(in)
	case verdict.InputsEarlier:
		return "the logs differ earlier", fmt.Sprintf("%s; the states agree for %s after that", Difference(in.Parting), prose.Count(in.Lag.Least, "tick", "ticks"))
	case verdict.InputsHarmless:
		return "the logs differ", Difference(in.Parting) + "; replays of both logs lead to the same states"
	}
	return "", ""
}

// partingOrder describes how the order that made the peers diverge differs, and how much later the divergence shows.
func partingOrder(in *verdict.Inputs) string {
	text := Difference(in.Parting)
	if in.By == verdict.BorneByGame {
		return text + "; the game reports that the peers diverged"
	}
	if s := lag(in.Lag); s != "" {
		text += "; " + s
	}
	return text
}

// lag describes how long after an order the peers diverged.
func lag(l *verdict.Lag) string {
	switch {
	case l == nil:
		return ""
	case l.Most == 0:
		return "the peers diverged in its tick"
	case l.Least == l.Most:
		return fmt.Sprintf("the peers diverged %s after the order", prose.Count(l.Most, "tick", "ticks"))
	case l.Least == 0:
		return fmt.Sprintf("the peers diverged at most %s after the order", prose.Count(l.Most, "tick", "ticks"))
	}
	return fmt.Sprintf("the peers diverged %d to %d ticks after the order", l.Least, l.Most)
}

// unborne explains why different logs do not mean different inputs.
func unborne(in *verdict.Inputs) string {
	if in.AgreedTo == nil {
		return "no state or hash after that tick was compared"
	}
	return fmt.Sprintf("everything else agrees up to state point %d", *in.AgreedTo)
}

// logs describes how many orders were compared, and in which ticks.
func logs(in *verdict.Inputs) string {
	w := in.Window
	if w == nil {
		return ""
	}
	ticks := fmt.Sprintf("%d to %d", w.From, w.To)
	if w.NativeFrom != "" {
		ticks = fmt.Sprintf("%s to %s (%s)", w.NativeFrom, w.NativeTo, ticks)
	}
	return fmt.Sprintf("%s in ticks %s of %s", prose.Count(w.Orders, "order", "orders"), ticks, prose.Count(in.Logs, "log", "logs"))
}

// Difference describes how one order differs between two peers.
func Difference(d *orderlog.Difference) string {
	what := "the order " + d.Order
	if d.Marker {
		what = "the marker " + d.Order
	}
	what += fmt.Sprintf(" of player %d", d.Player)
	when := tick(verdict.Moment{Number: d.Tick, Native: d.Native})
	var how string
	switch d.Kind {
	case orderlog.Missing:
		how = fmt.Sprintf("%s is missing on %s", what, d.Peer)
	case orderlog.Extra:
		how = fmt.Sprintf("%s is on %s only", what, d.Peer)
		if len(d.Lack) > 0 {
			how = fmt.Sprintf("%s is on %s and not on %s", what, d.Peer, join(d.Lack, "and"))
		}
	case orderlog.Duplicated:
		how = fmt.Sprintf("%s is there twice on %s", what, d.Peer)
	case orderlog.Reordered:
		how = fmt.Sprintf("%s comes in another order on %s", what, d.Peer)
	case orderlog.Late:
		if len(d.At) == 2 {
			a, b := d.At[0], d.At[1]
			return fmt.Sprintf("%s is in %s on %s and in %s on %s", what,
				tick(verdict.Moment{Number: a.Tick, Native: a.Native}), a.Peer, tick(verdict.Moment{Number: b.Tick, Native: b.Native}), b.Peer)
		}
		how = fmt.Sprintf("%s is in another tick on %s", what, d.Peer)
	case orderlog.Altered:
		how = fmt.Sprintf("%s is another one on %s", what, d.Peer)
	case orderlog.Failed:
		how = fmt.Sprintf("%s failed on %s", what, d.Peer)
	default:
		how = fmt.Sprintf("%s %s on %s", d.Kind, what, d.Peer)
	}
	if d.Diff != nil {
		how += fmt.Sprintf(" (byte %d: %s on %s, %s on %s", d.Diff.Offset, d.Diff.Base, d.Base, d.Diff.Peer, d.Peer)
		for _, f := range d.Diff.Fields {
			how += fmt.Sprintf("; %s: %s, %s", f.Path, f.Base, f.Peer)
		}
		how += ")"
	}
	return "in " + when + " " + how
}
