package relay

// Send returns the next packet that is to be sent, and the number of the peer. No packet is to be sent now if it is nil.
// The clock is any that counts milliseconds; a time before the last one is taken as that one.
func (r *Relay) Send(milliseconds uint64) (to int, packet []byte) {
	r.now = max(r.now, milliseconds+1) // 0 is not a time
	r.poll()
	if r.ack {
		r.ack = false
		return r.incomingFrom, sealed(append(r.packet(got, r.incomingID), r.incomingGot[:]...))
	}
	for i := range r.peers {
		if p := &r.peers[i]; len(p.toAnswer) > 0 {
			b := append(r.packet(answer, p.toAnswerNumber), p.toAnswer[0], 1)
			p.toAnswer = p.toAnswer[1:]
			p.sent += len(b)
			return i, sealed(b)
		}
	}
	switch {
	case r.status == Asking && r.alertTo < len(r.peers):
		b := r.packet(alert, 0)
		r.alertTo++
		return r.alertTo - 1, sealed(appendNumber(appendNumber(b, r.alertPoint, 8), 0, 8))
	case r.status == Asking:
		return r.sendQuestion()
	case r.report != nil:
		return r.sendReport()
	}
	return 0, nil
}

func (r *Relay) sendQuestion() (int, []byte) {
	for i := range r.peers {
		p := &r.peers[i]
		if !r.pending(i) || p.asked != 0 && r.now-p.asked < r.rto {
			continue
		}
		if p.asked != 0 {
			p.late++
		}
		p.asked = r.now
		b := append(r.packet(question, r.id), 0)
		for k := range r.parts {
			if p.answered>>k&1 == 0 {
				b = r.parts[k].append(b, k)
				b[headSize]++
			}
		}
		return i, sealed(b)
	}
	return 0, nil
}

func (r *Relay) sendReport() (int, []byte) {
	chunks := (len(r.report) + chunkSize - 1) / chunkSize
	for i := range r.peers {
		p := &r.peers[i]
		if !p.shares || r.now-p.since > 3*wait || p.sent > sentMost {
			continue
		}
		has := func(k int) bool { return p.got[k/8]>>(k%8)&1 != 0 }
		missing := func() bool {
			for p.chunk < chunks && has(p.chunk) {
				p.chunk++
			}
			return p.chunk < chunks
		}
		if !missing() {
			again := uint64(2000)
			if r.measured {
				again = 2 * r.rto
			}
			if r.now-p.asked < again<<min(p.late/8, 20) {
				continue
			}
			if p.chunk = 0; !missing() { // it has all of them
				continue
			}
			p.late++
		}
		p.asked = r.now
		b := appendNumber(appendNumber(r.packet(reportChunk, r.reportID), uint64(p.chunk), 2), uint64(len(r.report)), 4)
		b = append(b, r.report[p.chunk*chunkSize:min(len(r.report), (p.chunk+1)*chunkSize)]...)
		if p.chunk++; p.late > 0 && p.got == [len(p.got)]byte{} {
			p.chunk = chunks // nothing is known to have arrived: the first chunk asks for more
		}
		p.sent += len(b)
		return i, sealed(b)
	}
	return 0, nil
}
