package warzone

import "encoding/binary"

// appendVarint appends a number as the engine encodes it.
func appendVarint(b []byte, v uint32) []byte {
	for n := range maxVarint {
		last := 256 - uint32(varintMore[n])
		if v < last {
			return append(b, byte(v))
		}
		v -= last
		b = append(b, byte(255-v%uint32(varintMore[n])))
		v /= uint32(varintMore[n])
	}
	panic("warzone: no number has more places")
}

// Append appends the message as it is in a recording.
func (m *Message) Append(b []byte) []byte {
	b = append(b, m.Queue, byte(m.Type))
	b = appendVarint(b, uint32(len(m.Payload)))
	return append(b, m.Payload...)
}

// Append appends the payload of a TimeMessage.
func (g GameTime) Append(b []byte) []byte {
	b = appendVarint(b, g.Latency)
	b = appendVarint(b, g.CheckTime)
	b = binary.BigEndian.AppendUint16(b, g.CRC)
	return binary.BigEndian.AppendUint16(b, g.WantedLatency)
}
