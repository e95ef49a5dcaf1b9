package godot

import (
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"

	"github.com/desynctool/desynctool/tracediff"
)

// Format returns the format of logs. A folder may contain logs of several peers.
func TraceFormat() tracediff.Format {
	f := StateFormat()
	return tracediff.Format{
		Name: f.Name, Title: f.Title, Sniff: f.Sniff, Claims: claims,
		Peers: func(r io.Reader, name string) ([]string, error) {
			log, err := NewLog(r, name)
			if err != nil {
				return nil, err
			}
			return []string{PeerName(log.Peer())}, nil
		},
		Read: read,
	}
}

// dialect is the dialect of every log.
func dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: Title, File: "Godot Rollback Netcode log", Endless: true,
		Covers: "what the nodes of the group network_sync give of themselves, without what keys that begin with an underscore, or negative ones, hold",
	}
}

// source is the trace of one log.
type source struct {
	log *Log
	rec tracediff.Record
	at  tracediff.Checkpoint
}

func read(r io.Reader, name string, _ int) (tracediff.Source, error) {
	log, err := NewLog(r, name)
	if err != nil {
		return nil, err
	}
	s := &source{log: log}
	s.rec.Checkpoint = &s.at
	return s, nil
}

func (s *source) Header() tracediff.Header {
	return tracediff.Header{Peer: PeerName(s.log.Peer())}
}

func (s *source) Dialect() tracediff.Dialect { return dialect() }

// Next returns the hash of the state after the next tick. The state before the first tick has no
// checkpoint; a state without a hash has a count of its nodes.
func (s *source) Next() (*tracediff.Record, error) {
	for {
		e, err := s.log.Next()
		if err != nil {
			return nil, err
		}
		if e.Type != StateEntry || e.Tick == 0 {
			continue
		}
		s.rec.Pos = tracediff.Position{Offset: e.Offset}
		s.at = tracediff.Checkpoint{Tick: e.Tick, Sums: s.at.Sums[:0]}
		state := e.Content()
		if hash, ok := state.Get(HashKey).Number(); ok {
			s.at.Sums = append(s.at.Sums, tracediff.Sum{Value: strconv.AppendInt(nil, hash, 10)})
		} else {
			s.at.Count, s.at.HasCount = uint64(len(state.Keys)), true
		}
		return &s.rec, nil
	}
}

// mismatch is the text in a fatal error of the addon about states.
const mismatch = "state mismatch"

// claims returns the fatal errors that report different states. A peer notices some ticks later.
func claims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	in, err := NewLog(r, name)
	if err != nil {
		return nil, err
	}
	log := &tracediff.ClaimLog{Dialect: dialect(), Peer: PeerName(in.Peer())}
	for {
		e, err := in.Next()
		if frameErr, ok := err.(*frame.Error); ok {
			log.Trouble = frameErr.Msg
			return log, nil
		}
		if err == io.EOF {
			return log, nil
		}
		if err != nil {
			return log, err
		}
		text := e.Value.Get("fatal_error_message")
		if e.Type != FrameEntry || text == nil || text.Kind != Text || !strings.Contains(strings.ToLower(text.Text), mismatch) {
			continue
		}
		c := tracediff.Claim{File: name, Pos: tracediff.Position{Offset: e.Offset}, Text: text.Text}
		c.Tick, c.HasTick = e.Tick, e.HasTick
		log.Claims = append(log.Claims, c)
	}
}
