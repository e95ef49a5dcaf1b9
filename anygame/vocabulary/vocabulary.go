// Package vocabulary knows the words by which games name ticks, players, orders and checksums in their files.
//
// A name is taken apart where its case changes and at underscores and digits: simFrame, sim_frame and SIM-FRAME2 are
// all the parts sim and frame. The last part decides: the frame_hash is a hash, and the hash_frame a frame.
package vocabulary

import (
	"slices"
	"strings"
)

// Meaning is the kind of thing that a name is for.
type Meaning uint8

// The meanings.
const (
	Other   Meaning = iota
	Tick            // a number of a step of the simulation
	Sum             // a checksum
	WeakSum         // a checksum if its values look like one: state, rng
	Player          // a player or peer
	Measure         // a number of another kind: a size, a time, an address
)

// lists are the parts of names by their meaning. Where a part is a word for a checksum, it is enough that it is
// anywhere in the name.
var lists = []struct {
	meaning Meaning
	words   string
}{
	{Tick, "tick ticks tic frame frm turn round step cycle beat iteration simtick simframe simstep gametick gameframe gameturn " +
		"netframe nettick framecount tickcount framenum frameno framenumber ticknum tickno ticknumber turnnumber timestep lockstep " +
		"takt runde zug schritt tour trame turno tura tur такт кадр ход"},
	{Sum, "checksum chksum cksum csum hash crc digest md sha fletcher adler xxh xxhash fnv murmur blake siphash checksums " +
		"prüfsumme prüfsummen pruefsumme pruefsummen хеш хэш"},
	{WeakSum, "sum cs chk sync check rng random rand rnd state prng seed root somme summe suma soma сумма"},
	{Player, "player peer client user slot owner seat machine node sender plr replica validator " +
		"spieler joueur jugador giocatore gracz игрок клиент"},
	{Measure, "size len length bytes kb mb time ms us ns sec secs seconds interval period ping latency fps rate total port " +
		"pid tid id line errors mismatches delta lag duration version depth width height addr address ptr pointer handle " +
		"thread guid uuid offset count memory mem heap rss date timestamp session build revision commit " +
		"req request nonce span trace conn connection token cookie salt rtt jitter bandwidth kbps tps ups cpu gpu gc"},
}

// numbering are parts after a word for a tick or player that announce a number.
const numbering = " number no num nr id index idx "

// counting are parts after a word for a tick that do the same.
const counting = " count counter "

// Parts of the names of values that a state has of a player, and of what a player does.
const (
	stateParts = "hp health life lives alive dead gold money wood stone food ore score points mana energy fuel ammo armor armour shield " +
		"pop population units level xp vel velocity vx vy vz pos position px py x y z cooldown hunger heat"
	inputParts = "input inputs button buttons key keys stick pad joy axis move moved dir dx dy cmd command order action press pressed mouse aim " +
		"click jump fire shoot attack left right up down throttle steer steering brake bits mask flags target build buy use"
)

// InState reports whether a name is one for what a player or a unit has in a state: its health, its place.
func InState(name string) bool { return hasPart(name, stateParts) }

// IsInput reports whether a name is one for what a player does: a press or a command.
func IsInput(name string) bool { return hasPart(name, inputParts) }

// hasPart reports whether a part of a name is in a list of words.
func hasPart(name, words string) bool {
	return slices.ContainsFunc(Parts(name), func(part string) bool { return contains(words, part) })
}

// Of returns the meaning of a name.
func Of(name string) Meaning {
	parts := Parts(name)
	for len(parts) > 0 {
		last := parts[len(parts)-1]
		meaning := ofPart(last)
		if len(parts) > 1 {
			before := ofPart(parts[len(parts)-2])
			numbers := strings.Contains(numbering, " "+last+" ")
			counts := strings.Contains(counting, " "+last+" ")
			if (numbers && (before == Tick || before == Player)) || (counts && before == Tick) {
				parts = parts[:len(parts)-1]
				continue
			}
		}
		if meaning == Other || meaning == WeakSum {
			if slices.ContainsFunc(parts, func(part string) bool { return ofPart(part) == Sum }) {
				return Sum
			}
		}
		return meaning
	}
	return Other
}

// Lexicon remembers the meanings of names, for texts with many words. The zero value is ready.
type Lexicon struct{ known map[string]Meaning }

// maxKnown is how many names a Lexicon remembers.
const maxKnown = 1 << 12

// Of returns the meaning of a name.
func (l *Lexicon) Of(name []byte) Meaning {
	meaning, ok := l.known[string(name)]
	if !ok {
		meaning = Of(string(name))
		if l.known == nil || len(l.known) >= maxKnown {
			l.known = map[string]Meaning{}
		}
		l.known[string(name)] = meaning
	}
	return meaning
}

// ofPart returns the meaning of a part of a name.
func ofPart(part string) Meaning {
	for _, list := range lists {
		if contains(list.words, part) {
			return list.meaning
		}
	}
	for _, end := range []string{"checksum", "hash", "crc", "digest"} {
		if strings.HasSuffix(part, end) {
			return Sum
		}
	}
	return Other
}

// contains reports whether a list of words has a word.
func contains(list, word string) bool {
	for at := 0; ; {
		i := strings.Index(list[at:], word)
		if i < 0 || word == "" {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || list[from-1] == ' ') && (to == len(list) || list[to] == ' ') {
			return true
		}
		at = from + 1
	}
}

// Parts returns the parts of a name in lower case.
func Parts(name string) []string {
	var parts []string
	begin := 0
	cut := func(end int) {
		if end > begin {
			parts = append(parts, strings.ToLower(name[begin:end]))
		}
		begin = end
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case !letter(c):
			cut(i)
			begin = i + 1
		case i > begin && upper(c) && (!upper(name[i-1]) || i+1 < len(name) && letter(name[i+1]) && !upper(name[i+1])):
			cut(i)
		}
	}
	cut(len(name))
	return parts
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
