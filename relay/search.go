package relay

// The search asks one question at a time. Each stage reads the answers and asks the next one, as in docs/exchange.md.
type stage int

const (
	idle stage = iota
	statusStage
	historyStage
	stepsStage
	tablesStage
	columnsStage
	namesStage
	rowsStage
)

const (
	roundsMost   = 12
	spentMost    = 64 // parts with rows and buckets
	workMost     = 1024
	listedMost   = 32
	restartsMost = 2 * peersMost
	nameMost     = 64 // of a system, with a NUL in C
)

// Flags of a report.
const (
	lost    = 1
	foreign = 2
	cut     = 4
)

type group struct {
	peer                            int // the lowest one, which is asked
	members                         uint64
	history, root, stepRoot, inputs uint64
}

type search struct {
	stage                                   stage
	parts                                   []part
	id, counter                             uint32
	rto                                     uint64
	rounds, spent, restarts                 int
	flags                                   int
	full, older                             bool
	oldest, common, top, low, high, stride  uint64
	point                                   uint64
	step, stepFrom                          int
	stepName                                string
	groups                                  []group
	silent                                  uint64
	tableCount, tablesDiffer, columnsDiffer uint32
	rowsOf                                  map[uint32]uint64 // of tables
	listed                                  []listed
	named                                   int
	work                                    []rowRange
	found                                   []foundRow
	foundSize                               int
}

func (r *Relay) begin() {
	r.search = search{stage: statusStage, rto: r.rto, counter: r.counter, restarts: r.restarts, step: endOfTick, rowsOf: map[uint32]uint64{}}
	r.ask([]part{{what: askStatus, step: endOfTick}})
}

// endSearch keeps what numbers and times the packets.
func (r *Relay) endSearch() {
	r.search = search{rto: r.rto, counter: r.counter}
	for i := range r.peers {
		r.peers[i].asks, r.peers[i].answers, r.peers[i].beats = false, nil, nil
	}
}

// ask asks all peers, or from the steps on one of each group.
func (r *Relay) ask(parts []part) {
	r.counter++
	r.parts, r.id = parts, r.counter&0xffffff
	r.rounds++
	for i := range r.peers {
		p := &r.peers[i]
		p.asks = i > 0 && r.stage <= historyStage && !p.gone
		for _, g := range r.groups {
			p.asks = p.asks || r.stage > historyStage && g.peer == i
		}
		p.answered, p.asked, p.late, p.since, p.answers = 0, 0, 0, r.now, nil
		if p.asks {
			p.answers = make([][]byte, len(parts))
		}
	}
}

// takesPart reports whether a peer is asked, and not given up.
func (r *Relay) takesPart(i int) bool { return r.peers[i].asks && !r.peers[i].gone && !r.foreign(i) }

func (r *Relay) pending(i int) bool {
	return r.takesPart(i) && r.peers[i].answered != 1<<len(r.parts)-1
}

func (r *Relay) answered(i, part int) reader {
	if !r.peers[i].asks {
		return reader{}
	}
	return reader{b: r.peers[i].answers[part]}
}

// poll goes on where answers are there, or will not come.
func (r *Relay) poll() {
	for r.stage != idle {
		for i := range r.peers {
			if !r.pending(i) {
				continue
			}
			p := &r.peers[i]
			if r.now-p.since < max(wait, 16*r.rto) {
				return
			}
			p.gone = true
			if r.stage > historyStage && r.restarts < restartsMost {
				r.restarts++
				r.begin() // another peer of its group will do
				return
			}
		}
		r.advance()
	}
}

func (r *Relay) advance() {
	switch r.stage {
	case statusStage:
		r.afterStatus()
	case historyStage:
		r.afterHistory()
	case stepsStage:
		r.afterSteps()
	case tablesStage:
		r.afterTables()
	case columnsStage:
		r.afterColumns()
	case namesStage:
		r.afterNames()
	default:
		r.afterRows()
	}
}

func (r *Relay) askHistory() {
	r.stage = historyStage
	span := r.high - r.low
	switch r.stride = 1; {
	case span > 120:
		r.stride = (span + 119) / 120
	case span > 60:
		r.stride = 2
	}
	r.ask([]part{{what: askHistory, step: endOfTick, point: r.low, from: r.stride, count: int((span + r.stride - 1) / r.stride)}})
}

func (r *Relay) askLatest() {
	r.high = min(r.top, r.low+60)
	r.askHistory()
}

// afterStatus has the peers' first and last points. The points that some do not have yet are compared first, one by one.
func (r *Relay) afterStatus() {
	n, most := 0, uint64(0)
	r.common = 1<<64 - 1
	for i := range r.peers {
		if !r.takesPart(i) {
			continue
		}
		in := r.answered(i, 0)
		first, last := in.number(8), in.number(8)
		if in.bad || last < first || last == 1<<64-1 {
			continue
		}
		n++
		r.oldest, r.common = max(r.oldest, first), min(r.common, last)
		if last+1 > most {
			r.top, most = most, last+1
		} else {
			r.top = max(r.top, last+1)
		}
	}
	if n < 2 {
		for i := range r.peers {
			if r.foreign(i) {
				r.flags |= foreign
			}
		}
		if r.flags&foreign != 0 {
			r.share()
			return
		}
		r.stage, r.status = idle, Silent
		return
	}
	r.common = max(r.common, r.oldest)
	r.top = max(r.top, r.common+1)
	r.low = r.common
	r.askLatest()
}

// historyAt reads number k of the answered histories.
func (r *Relay) historyAt(i, k int) (history, root uint64, ok bool) {
	in := r.answered(i, 0)
	if r.stride == 1 {
		in.bytes(16 * k)
		history = in.number(8)
		bad := in.bad
		return history, in.number(8), !bad
	}
	in.bytes(8 * k)
	history = in.number(8)
	return history, 0, !in.bad
}

func (r *Relay) differsAt(k int) bool {
	seen, any := uint64(0), false
	for i := range r.peers {
		if !r.takesPart(i) {
			continue
		}
		history, _, ok := r.historyAt(i, k)
		if !ok {
			continue
		}
		if any && history != seen {
			return true
		}
		seen, any = history, true
	}
	return false
}

// makeGroups makes groups of the peers by their histories at the point, which is number k of the answers.
func (r *Relay) makeGroups(k int) {
	r.groups, r.silent = nil, 1<<len(r.peers)-2 // all but the relay
	for i := range r.peers {
		if !r.takesPart(i) {
			continue
		}
		history, root, ok := r.historyAt(i, k)
		g := 0
		for g < len(r.groups) && r.groups[g].history != history {
			g++
		}
		if !ok || g == groupsMost {
			continue
		}
		if g == len(r.groups) {
			r.groups = append(r.groups, group{peer: i, history: history, root: root})
		}
		r.groups[g].members |= 1 << i
		r.silent &^= 1 << i
	}
}

func (r *Relay) afterHistory() {
	count := r.parts[0].count
	for k := range count {
		if !r.differsAt(k) {
			continue
		}
		at := uint64(k)
		switch {
		case k == 0 && r.low == r.common && r.low > r.oldest && !r.older: // among the points before
			r.older = true
			r.high, r.low = r.low+1, r.oldest
			r.askHistory()
		case r.stride > 1:
			r.high = r.low + at*r.stride + 1
			if k > 0 {
				r.low += (at-1)*r.stride + 1
			}
			r.askHistory()
		default:
			r.foundPoint(k)
		}
		return
	}
	last := r.low + uint64(count-1)*r.stride + 1
	switch {
	case r.stride > 1 && last < r.high:
		r.low = last
		r.askHistory()
	case !r.older && r.high < r.top && r.rounds < roundsMost/2:
		r.low = r.high
		r.askLatest()
	default: // nothing differs: who answered is all that is known
		r.makeGroups(0)
		r.groups = nil
		r.share()
	}
}

func (r *Relay) foundPoint(k int) {
	r.point = r.low + uint64(k)
	r.makeGroups(k)
	if r.point == r.oldest {
		r.flags |= lost
		r.askTables(0)
		return
	}
	r.askSteps(0)
}

func (r *Relay) askSteps(from int) {
	r.stage, r.stepFrom = stepsStage, from
	r.ask([]part{{what: askSteps, step: endOfTick, point: r.point, from: uint64(from)}})
}

// afterSteps finds the first system after which the hashes differ, as long as the names are the same.
func (r *Relay) afterSteps() {
	in := make([]reader, len(r.groups))
	total := endOfTick
	for g := range r.groups {
		in[g] = r.answered(r.groups[g].peer, 0)
		r.groups[g].inputs = in[g].number(8)
		total = min(total, int(in[g].number(2)))
		if in[g].bad {
			total = 0
		}
	}
	for k := r.stepFrom; k < total; k++ {
		name, differs, bad := "", false, false
		for g := range r.groups {
			of := in[g].text()
			r.groups[g].stepRoot = in[g].number(8)
			bad = bad || in[g].bad || len(of) >= nameMost || g > 0 && of != name
			name = of
			differs = differs || r.groups[g].stepRoot != r.groups[0].stepRoot
		}
		if bad && k > r.stepFrom && r.rounds < roundsMost-1 {
			r.askSteps(k) // the rest of them
			return
		}
		if bad {
			break
		}
		if differs {
			r.step, r.stepName = k, name
			break
		}
	}
	if r.step == endOfTick {
		for g := range r.groups {
			r.groups[g].stepRoot = r.groups[g].root
		}
	}
	r.askTables(0)
}

const leavesInAnswer = (body - 6) / 8

// askTables asks for the leaves from a table on, at the end and after the step.
func (r *Relay) askTables(from uint32) {
	r.stage = tablesStage
	var parts []part
	for n := 0; len(parts)+1 < partsMost && (n == 0 || from < r.tableCount); n++ {
		parts = append(parts, part{what: askTables, step: endOfTick, point: r.point, from: uint64(from)})
		if r.step != endOfTick {
			parts = append(parts, part{what: askTables, step: r.step, point: r.point, from: uint64(from)})
		}
		from += leavesInAnswer
	}
	r.ask(parts)
}
