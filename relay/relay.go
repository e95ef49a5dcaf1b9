// Package relay finds what differs between the peers of a game, as a server that has no simulation of it. The peers have
// the flight recorders of docs/sdk. docs/exchange.md specifies the packets.
//
// A relay is peer 0 of the list that all peers have. The server gives it each packet that is for peer 0, and sends what
// it returns. It compares the beats of the peers. When they differ it asks the peers, merges their answers, and hands
// all of them the same report. Its memory is bounded, whatever arrives.
package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A Status is what a relay does.
type Status int

const (
	Watching Status = iota // compares hashes
	Asking                 // looks for what differs
	Found                  // there is a report
	Silent                 // fewer than two peers have answered
)

const (
	peersMost  = 64
	beatsKept  = 16
	groupsMost = 4
	queueMost  = 8
	sentMost   = 1 << 19 // bytes of answers and reports to a peer in an exchange
	wait       = 3000    // ms after which a peer is given up
	valuesMost = chunkSize*chunksMost - 32768
)

// Options of a relay.
type Options struct {
	Seed   uint64   // of the session, the same on all peers
	Peers  []string // names by number, 3 to 64, the same list on all peers; the relay is number 0
	Values int      // bytes of differing values in a report, at most; 0 is 65536
}

type pointHash struct{ point, history uint64 }

type peer struct {
	beats          []pointHash // the last ones, at most beatsKept
	schema         uint32
	heard          bool // schema is known
	heardAt        uint64
	asks, gone     bool
	asked, since   uint64
	late           int
	answered       uint32 // parts of the question, as bits
	answers        [][]byte
	shares         bool
	chunk, sent    int
	got            [chunksMost / 8]byte
	toAnswer       []byte // indexes of its parts
	toAnswerNumber uint32
}

// A Relay is not safe for several goroutines at a time.
type Relay struct {
	names     []string
	seed      uint64
	schema    uint32
	valueRoom int
	peers     []peer
	now       uint64
	status    Status

	alertPoint uint64
	alertTo    int // the next peer that gets an alert
	search
	report, incoming       []byte
	reportID, incomingID   uint32
	reporter, incomingFrom int
	incomingGot            [chunksMost / 8]byte
	ack                    bool
	measured               bool // that rto is no guess
}

// New returns a relay. Fewer than 3 or more than 64 peers are an error, as is a name that is empty or longer than 1024 bytes.
func New(o Options) (*Relay, error) {
	if len(o.Peers) < 3 || len(o.Peers) > peersMost {
		return nil, fmt.Errorf("a relay needs 3 to %d peers, itself included, not %d", peersMost, len(o.Peers))
	}
	for i, name := range o.Peers {
		if name == "" || len(name) > 1024 {
			return nil, fmt.Errorf("the name of peer %d is empty or longer than 1024 bytes", i)
		}
	}
	if o.Values < 0 {
		return nil, errors.New("the values of a report have a negative number of bytes")
	}
	if o.Values == 0 {
		o.Values = 65536
	}
	r := &Relay{names: append([]string(nil), o.Peers...), seed: o.Seed, now: 1, peers: make([]peer, len(o.Peers))}
	r.valueRoom = min(o.Values, valuesMost, 50000/(len(o.Peers)-1)-400)
	r.rto = 400
	return r, nil
}

// Status is what the relay does now.
func (r *Relay) Status() Status { return r.status }

// Report is the report, the same as all peers have; nil if there is none. It must not be changed.
func (r *Relay) Report() []byte { return r.report }

// Resume goes on watching after a report. The peers do so with the same state, as after a load. Packets that were sent
// before must not arrive later.
func (r *Relay) Resume() {
	names, seed, room, now, id := r.names, r.seed, r.valueRoom, r.now, r.counter
	*r = Relay{names: names, seed: seed, valueRoom: room, now: now, peers: make([]peer, len(names))}
	r.rto, r.counter = 400, id
}

// Receive takes a packet that peer number from has sent. A packet that is not understood is dropped.
func (r *Relay) Receive(from int, packet []byte) {
	n := len(packet) - 4
	if from <= 0 || from >= len(r.peers) || n < headSize || n+4 > packetMost || string(packet[:3]) != "DF\x01" {
		return
	}
	if crc32.Checksum(packet[:n], castagnoli) != binary.LittleEndian.Uint32(packet[n:]) || binary.LittleEndian.Uint64(packet[4:]) != r.seed {
		return
	}
	p := &r.peers[from]
	p.heard, p.heardAt, p.schema = true, r.now, binary.LittleEndian.Uint32(packet[12:])
	r.choose()
	in, id := reader{b: packet[headSize:n]}, binary.LittleEndian.Uint32(packet[16:])
	if r.foreign(from) {
		r.noticed(0)
		if packet[3] != reportChunk && packet[3] != got {
			return
		}
	}
	switch packet[3] {
	case beat:
		r.gotBeat(from, pointHash{in.number(8), in.number(8)}, in.bad)
	case alert:
		if point := in.number(8); !in.bad {
			r.noticed(point)
		}
	case question:
		r.gotQuestion(from, id, in)
	case answer:
		r.gotAnswer(from, id, in)
	case reportChunk:
		r.gotReport(from, id, in)
	case got:
		if bits := in.bytes(len(p.got)); r.report != nil && id == r.reportID && !in.bad {
			copy(p.got[:], bits)
			p.since = r.now
		}
	}
}

// choose takes the schema of most peers, until the first question is answered.
func (r *Relay) choose() {
	if r.status != Watching && r.stage > statusStage {
		return
	}
	count, most := map[uint32]int{}, 0
	for i := range r.peers {
		if p := &r.peers[i]; p.heard {
			count[p.schema]++
			most = max(most, count[p.schema])
		}
	}
	for i := range r.peers {
		if p := &r.peers[i]; p.heard && count[p.schema] == most {
			r.schema = p.schema
			return
		}
	}
}

func (r *Relay) foreign(i int) bool { return r.peers[i].heard && r.peers[i].schema != r.schema }

func (r *Relay) noticed(point uint64) {
	if r.status != Watching && r.status != Silent {
		return
	}
	r.status, r.alertPoint, r.alertTo = Asking, point, 1
	for i := range r.peers {
		r.peers[i].gone = false
	}
	r.begin()
}

func (r *Relay) gotBeat(from int, b pointHash, bad bool) {
	if bad || r.status != Watching {
		return
	}
	for i := range r.peers {
		for _, other := range r.peers[i].beats {
			if other.point == b.point && other.history != b.history && !r.foreign(i) {
				r.noticed(b.point)
				return
			}
		}
	}
	p := &r.peers[from]
	if len(p.beats) == beatsKept {
		p.beats = append(p.beats[:0], p.beats[1:]...)
	}
	p.beats = append(p.beats, b)
}

// gotQuestion remembers the parts of a question: each is answered with state 1, as there is no state.
func (r *Relay) gotQuestion(from int, id uint32, in reader) {
	p, n := &r.peers[from], int(in.number(1))
	if n == 0 || n > partsMost || p.sent > sentMost {
		return
	}
	var indexes []byte
	for range n {
		if b := in.bytes(partSize); b != nil {
			indexes = append(indexes, b[0])
		}
	}
	if in.bad {
		return
	}
	if r.report != nil {
		r.shareWith(from)
		return
	}
	p.toAnswer, p.toAnswerNumber = indexes, id
	r.noticed(0)
}

func (r *Relay) gotAnswer(from int, id uint32, in reader) {
	p, index := &r.peers[from], int(in.number(1))
	state := in.number(1)
	if in.bad || r.stage == idle || id != r.id || !p.asks || p.gone || index >= len(r.parts) || p.answered>>index&1 != 0 {
		return
	}
	if state == 0 {
		p.answers[index] = append([]byte(nil), in.b...)
	}
	if p.answered == 0 && p.late == 0 {
		took := r.now - p.asked
		took = min(took+took/4+50, 1000)
		if took > r.rto {
			r.rto = took
		} else {
			r.rto -= (r.rto - took) / 8
		}
		r.measured = true
	}
	p.answered |= 1 << index
	p.since = r.now
}

func (r *Relay) gotReport(from int, id uint32, in reader) {
	chunk, size := int(in.number(2)), int(in.number(4))
	chunks := (size + chunkSize - 1) / chunkSize
	if in.bad || size == 0 || size > chunkSize*chunksMost || chunk >= chunks || len(in.b) != min(size-chunk*chunkSize, chunkSize) {
		return
	}
	if id != r.incomingID || from != r.incomingFrom || size != len(r.incoming) {
		if r.incoming != nil && r.now-r.peers[r.incomingFrom].heardAt < wait && from > r.incomingFrom {
			return
		}
		r.incoming, r.incomingID, r.incomingFrom, r.incomingGot = make([]byte, size), id, from, [chunksMost / 8]byte{}
	}
	copy(r.incoming[chunk*chunkSize:], in.b)
	r.incomingGot[chunk/8] |= 1 << (chunk % 8)
	r.ack = true
	for i := range chunks {
		if r.incomingGot[i/8]>>(i%8)&1 == 0 {
			return
		}
	}
	if r.report != nil || !r.readable(r.incoming) {
		return
	}
	r.noticed(0)
	r.takes(append([]byte(nil), r.incoming...), id, from)
}

// takes has a report, and begins to hand it to all peers.
func (r *Relay) takes(report []byte, id uint32, from int) {
	r.report, r.reportID, r.reporter, r.status = report, id, from, Found
	r.endSearch()
	for i := range r.peers {
		r.shareWith(i)
	}
}

func (r *Relay) shareWith(i int) {
	p := &r.peers[i]
	p.shares, p.got, p.chunk, p.late, p.since, p.asked = i > 0, [chunksMost / 8]byte{}, 0, 0, r.now, 0
}
