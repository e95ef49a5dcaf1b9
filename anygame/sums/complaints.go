package sums

import (
	"bytes"
	"slices"
)

// complaint is the other news in a line with a checksum.
type complaint uint8

const (
	fine    complaint = iota
	others            // a checksum of another peer
	differs           // a difference
)

// complaints are words of lines that report a difference, and of those that have a checksum of another peer.
var complaints = [...][]string{
	differs: {
		"mismatch", "!=", "desync detected", "desyncdetected", "desync at", "desync in", "desync!", "desynced", "out of sync",
		"differ", "diverg", "not match", "correct", "wrong", "rollback to",
	},
	others: {"remote", "received", "recv", "expected"},
}

// isTraffic reports whether a line with a checksum also counts what was sent and received: hash=9f3acc01 sent=684 recv=340.
func isTraffic(line []byte) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(line, []byte(w)) })
	}
	return has("hash", "checksum", "crc", "digest") && has("sent", "bytes", "packets") && !has("remote")
}

// complains returns the complaint in a part of a line.
func complains(part []byte) complaint {
	if len(part) < 2 {
		return fine
	}
	var lower [256]byte
	part = part[:min(len(part), len(lower))]
	for i, c := range part {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	for _, told := range []complaint{differs, others} {
		for _, text := range complaints[told] {
			if bytes.Contains(lower[:len(part)], []byte(text)) && !(told == others && isTraffic(lower[:len(part)])) {
				return told
			}
		}
	}
	return fine
}
