package check

import (
	"bytes"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/report/peers"
)

// isPeerReport reports whether a file begins as a JSON object does that has a key of a report.
func isPeerReport(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	return slices.ContainsFunc([]string{"desynctool.peer-report/", `"state_hash"`, `"merkle_nodes"`, `"diverged_archetypes"`}, func(key string) bool {
		return bytes.Contains(head, []byte(key))
	})
}

// checkPeerReport reads the report with package peers, and checks the rules of snapshots in the archetypes that it
// includes.
func checkPeerReport(c *checker, in *input) (known facts, failed error) {
	known.report = &reportFacts{}
	b, err := io.ReadAll(io.LimitReader(in.content, limits.Report.Max()+1))
	if err != nil {
		return facts{}, err
	}
	if limits.Report.Over(int64(len(b))) {
		c.add("report-size", offsetAt(limits.Report.Max(), ""), "the report has more than %d bytes", limits.Report.Max())
		return known, nil
	}
	if at := notUTF8(b); at >= 0 {
		c.add("report-json", offsetAt(int64(at), ""), "a byte that is not UTF-8")
	}
	ticked := true
	r := peers.Check(b, peers.Checking{
		Broken: func(e *frame.Error) {
			ticked = ticked && e.In != "tick" && e.Rule != "report-required"
			c.add(e.Rule, place{offset: e.Offset, at: e.Offset >= 0, in: e.In}, "%s", e.Msg)
		},
		World: func(path string, offset int64, snap []byte) bool {
			if !bytes.HasPrefix(snap, []byte(snapMagic)) {
				c.add("report-world", offsetAt(offset, path), "it does not begin as a .snap does")
				return false
			}
			s := &snapChecker{c: c, in: bytes.NewReader(snap), size: int64(len(snap)), base: -1, what: path}
			failed = s.check()
			s.close()
			return failed == nil && s.whole
		},
	})
	seed, err := strconv.ParseUint(r.Seed, 16, 64)
	known.seed, known.seeded = seed, err == nil
	known.report.peer, known.report.tick, known.report.phase, known.report.native = r.Peer, r.Tick, r.Phase, r.Point().Native
	if hash, err := hex.DecodeString(r.StateHash); err == nil && len(hash) > 0 {
		known.report.hash = hash
	}
	if known.seeded && ticked {
		reportName(c, in.name, known)
	}
	return known, failed
}

// notUTF8 returns where the first byte is that is not UTF-8, -1 if there is none.
func notUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for at := 0; ; {
		char, n := utf8.DecodeRune(b[at:])
		if char == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
}

// sameHash reports whether two hashes are equal as far as both go.
func sameHash(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}
