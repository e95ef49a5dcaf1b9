package vectors

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
)

// What follows is written from docs/signatures.md alone, as naive_test.go is from the other pages. Ed25519 comes from
// the standard library.

// chainPiece is one entry of a chain while a file is put together.
type chainPiece struct{ previous, fields, signature []byte }

func (p *chainPiece) payload() []byte { return append(append([]byte{}, p.fields...), p.signature...) }

func sign(secret []byte, domain string, fields []byte) (message, signature []byte) {
	message = append([]byte(domain), fields...)
	return message, ed25519.Sign(ed25519.NewKeyFromSeed(secret), message)
}

func publicKey(secret []byte) []byte {
	return ed25519.NewKeyFromSeed(secret).Public().(ed25519.PublicKey)
}

// genesisOf returns the payload of a header, and what is hashed for the genesis.
func genesisOf(header object, key []byte) (payload, preimage []byte) {
	peer := header["peer"].(string)
	bin := func(b []byte) any { return object{"bin": hex.EncodeToString(b)} }
	payload = pack(object{"map": []any{"seed", header["seed"], "peer", peer, "key", bin(key), "start", object{"bin": header["start"]}}})
	seed := header["seed"]
	if large, ok := seed.(object); ok {
		seed = json.Number(large["u64"].(string))
	}
	b := buf("desynctool tick-signatures 1 genesis\n")
	b.little(num(seed), 8)
	b.add(key, unhex(header["start"].(string)))
	b.little(uint64(len(peer)), 4)
	b.add([]byte(peer))
	return payload, b
}

// signEntry signs one entry.
func signEntry(secret, previous []byte, skipped, tick uint64, state []byte) (p chainPiece, message []byte) {
	var b buf
	b.add(previous)
	b.little(skipped, 8)
	b.little(tick, 8)
	b.add(state)
	message, signature := sign(secret, "desynctool tick-signatures 1 entry\n", b)
	return chainPiece{previous, b, signature}, message
}

func linkOf(p *chainPiece) []byte {
	return sha([]byte("desynctool tick-signatures 1 link\n"), p.payload())
}

func chainOut(in object) any {
	if in["key"] != nil {
		key, message, signature := unhex(in["key"].(string)), unhex(in["message"].(string)), unhex(in["signature"].(string))
		return object{"valid": false, "without_the_rule": ed25519.Verify(key, message, signature)}
	}
	secret := unhex(in["secret"].(string))
	key := publicKey(secret)
	if in["header"] == nil {
		return object{"key": hexOf(key)}
	}
	header := in["header"].(object)
	headerPayload, preimage := genesisOf(header, key)
	out := object{"header": hexOf(headerPayload), "genesis_of": hexOf(preimage), "genesis": hexOf(sha(preimage))}
	if in["entries"] == nil {
		return out
	}
	then, _ := in["then"].(object)
	own := number(then, "signed entry", -1)
	var pieces []chainPiece
	entries := []any{}
	last, before := sha(preimage), uint64(0)
	for i, x := range in["entries"].([]any) {
		x := x.(object)
		tick, skipped := num(x["tick"]), uint64(0)
		if i > 0 {
			skipped = tick - before - 1
		}
		if i == own && then["tick"] != nil {
			tick, skipped = num(then["tick"]), 0
		}
		if i == own && then["skipped"] != nil {
			skipped = num(then["skipped"])
		}
		p, message := signEntry(secret, last, skipped, tick, unhex(x["state"].(string)))
		last, before = linkOf(&p), tick
		pieces = append(pieces, p)
		entries = append(entries, object{"previous": hexOf(p.previous), "skipped": json.Number(itoa(skipped)), "message": hexOf(message),
			"signature": hexOf(p.signature), "payload": hexOf(p.payload()), "link": hexOf(last)})
	}
	count := len(pieces)
	var end buf
	end.add(last)
	end.little(uint64(count), 8)
	endMessage, endSignature := sign(secret, "desynctool tick-signatures 1 end\n", end)
	var broken any
	if then == nil {
		out["entries"] = entries
		if in["end"].(bool) {
			out["end"] = object{"message": hexOf(endMessage), "signature": hexOf(endSignature), "payload": hexOf(append(bytes.Clone(end), endSignature...))}
		}
	} else {
		out = object{}
		what := func(kind string, entry int) { broken = object{"what": kind, "entry": json.Number(itoa(uint64(entry)))} }
		var other []byte
		if then["entry of peer"] != nil {
			_, theirs := genesisOf(object{"seed": header["seed"], "peer": then["entry of peer"], "start": header["start"]}, key)
			first, _ := signEntry(secret, sha(theirs), 0, 0, unhex(in["entries"].([]any)[0].(object)["state"].(string)))
			other = linkOf(&first)
		}
		switch {
		case then["state of entry"] != nil:
			i := number(then, "state of entry", 0)
			pieces[i].fields[48] ^= 1
			what("tampered", i)
		case then["signature of entry"] != nil:
			i := number(then, "signature of entry", 0)
			pieces[i].signature[0] ^= 1
			what("tampered", i)
		case then["skipped of entry"] != nil:
			i := number(then, "skipped of entry", 0)
			pieces[i].fields[32] ^= 1
			what("tampered", i)
		case then["without entry"] != nil:
			i := number(then, "without entry", 0)
			pieces = append(append([]chainPiece{}, pieces[:i]...), pieces[i+1:]...)
			if what("missing", i); i == count-1 {
				what("missing-at-end", i)
			}
		case then["swapped"] != nil:
			l := then["swapped"].([]any)
			i, j := num(l[0]), num(l[1])
			pieces[i], pieces[j] = pieces[j], pieces[i]
			what("missing", int(i))
		case then["seed"] != nil:
			headerPayload, _ = genesisOf(object{"seed": then["seed"], "peer": header["peer"], "start": header["start"]}, key)
			what("missing", 0)
		case then["key of"] != nil:
			headerPayload, _ = genesisOf(header, publicKey(unhex(then["key of"].(string))))
			what("tampered", 0)
		case then["entry of peer"] != nil:
			i := number(then, "entry", 0)
			x := in["entries"].([]any)[i].(object)
			pieces[i], _ = signEntry(secret, other, 0, num(x["tick"]), unhex(x["state"].(string)))
			what("missing", i)
		case own >= 0:
			what("contradiction", own)
		case then["count"] != nil:
			end[32] = byte(num(then["count"]))
			what("end-tampered", count)
		}
	}
	file := preamble("tick signatures")
	file.add(frame(1, headerPayload))
	for i := range pieces {
		file.add(frame(2, pieces[i].payload()))
	}
	if in["end"].(bool) {
		file.add(frame(3, append(bytes.Clone(end), endSignature...)), endMarker(len(pieces)+2))
	}
	out["file"] = hexOf(file)
	if broken != nil {
		out["first_break"] = broken
	}
	return out
}

func number(o object, name string, otherwise int) int {
	if o[name] == nil {
		return otherwise
	}
	return int(num(o[name]))
}

func itoa(n uint64) string { b, _ := json.Marshal(n); return string(b) }
