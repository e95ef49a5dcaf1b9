package widelands

import (
	"encoding/hex"
	"io"

	"github.com/desynctool/desynctool/tracediff"
)

// hashes reads the hashes of a replay as checkpoints.
type hashes struct {
	replay *Replay
	header tracediff.Header

	rec   tracediff.Record
	point tracediff.Checkpoint
	sum   [1]tracediff.Sum
	text  [2 + 2*16]byte
}

func newHashes(r io.Reader, name string) (*hashes, error) {
	replay, err := NewReplay(r, name)
	if err != nil {
		return nil, err
	}
	h := &hashes{replay: replay, header: tracediff.Header{Peer: Peer(name)}}
	copy(h.text[:], "0x")
	h.sum[0].Value = h.text[:]
	h.point.Sums = h.sum[:]
	h.rec.Checkpoint = &h.point
	return h, nil
}

func (h *hashes) Header() tracediff.Header { return h.header }

func (h *hashes) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: title, File: "Widelands replay", Unit: unit, Cumulative: true,
		Covers: "the sync stream up to that time: commands run, objects acting, random numbers, positions given; not the state itself",
	}
}

// Next returns the next hash. Commands are skipped.
func (h *hashes) Next() (*tracediff.Record, error) {
	for {
		p, err := h.replay.Next()
		if err != nil {
			return nil, err
		}
		if p.Kind != Hash {
			continue
		}
		hex.Encode(h.text[2:], p.MD5[:])
		h.rec.Pos.Offset = p.Offset
		h.point.Tick = uint64(p.Time)
		return &h.rec, nil
	}
}
