package widelands

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io"
)

// Recomputed describes how the hashes that a replay recorded agree with the sync stream of the same peer.
type Recomputed struct {
	Checked int // hashes that were recomputed
	Fitting int // of these
	// First is the first hash that does not fit, nil if all do.
	First *Misfit
	// Beyond counts hashes at times that the stream does not reach.
	Beyond int
}

// Misfit is a recorded hash that differs from the stream's.
type Misfit struct {
	Time               uint32 // of the hash, in ms
	Recorded, Computed [16]byte
	Offset             int64 // how many bytes of the stream Computed is the MD5 of
}

// Recompute computes the hashes of a replay from a sync stream, in one pass through both. The hash at time t is the MD5
// of all entries before the first RunQueue that is due at t or later; if there is none, the stream does not reach t.
//
// An error that is a *frame.Error means that a file breaks off or is damaged; the result is still valid for the part
// before that. An excerpt cannot be used.
func Recompute(stream *Stream, replay *Replay) (*Recomputed, error) {
	if stream.excerpt != nil {
		return nil, fmt.Errorf("%s: an excerpt does not begin where the game does, so that no hash can be computed from it", stream.name)
	}
	if stream.base+int64(stream.pos) != 0 {
		return nil, fmt.Errorf("%s: entries have been read, so that no hash can be computed from the rest", stream.name)
	}
	stream.sum = md5.New()
	res := new(Recomputed)
	hash, replayErr := replay.nextHash()
	var streamErr error
	for hash != nil && streamErr == nil {
		var e *Entry
		if e, streamErr = stream.Next(); streamErr != nil || e.Kind != RunQueue || hash.Time > e.Clock {
			continue
		}
		stream.digest(int(e.Offset - stream.base))
		computed := [16]byte(stream.sum.Sum(nil))
		for hash != nil && hash.Time <= e.Clock {
			res.Checked++
			if hash.MD5 == computed {
				res.Fitting++
			} else if res.First == nil {
				res.First = &Misfit{hash.Time, hash.MD5, computed, e.Offset}
			}
			hash, replayErr = replay.nextHash()
		}
	}
	for hash != nil {
		res.Beyond++
		hash, replayErr = replay.nextHash()
	}
	if replayErr == io.EOF {
		replayErr = nil
	}
	if streamErr == io.EOF {
		streamErr = nil
	}
	return res, errors.Join(streamErr, replayErr)
}

// nextHash returns the next hash of a replay, nil with the error after the last.
func (p *Replay) nextHash() (*Packet, error) {
	for {
		k, err := p.Next()
		if err != nil {
			return nil, err
		}
		if k.Kind == Hash {
			return k, nil
		}
	}
}
