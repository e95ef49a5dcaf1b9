package statements

import (
	"slices"
	"strings"
	"sync"
)

// class is a set of words, or several.
type class uint32

// The classes of words.
const (
	nouns       class = 1 << iota // things that may differ between peers
	playful                       // words of games, which messages of other programs about checksums do not have
	plural                        // words for ticks after which the number follows only after a mark
	numbering                     // words between one for a tick and its number
	settled                       // words before a tick other than the tick of the desync
	roles                         // what a peer is to who wrote the message, or to the other
	outcomes                      // words for a value that was to be, and for the one that was
	writers                       // the roles of who wrote the message
	peerNouns                     // words before the number or name of a peer
	connecting                    // words that may follow a value that is no count
	prosaic                       // words of people
	conditional                   // words that make a case of an event, or deny it
	harmless                      // words after one for desync that make it the name of something, or the end of it
	failing                       // words that make a harmless one an event
	elsewhere                     // words of messages about data that is not the state of a game
	changes                       // words that lists of changes, instructions and source code begin with
	programs                      // the words of short messages of programs
	events                        // words that make a short message one of something that happened
	modules                       // words before a colon that are no speaker
	levels                        // words for how grave a message is
	months                        // months and days of the week
	subjects                      // words before a verb that are not the name of a peer
	few                           // other words of messages about checksums
	digested                      // words that digits after them belong to
	stored                        // words for data that is stored or sent, not simulated
	perceived                     // words for desyncs of sound and pictures
	pairing                       // other words of a line with two sums of one tick
	fields                        // words before the name of a field that differs
	entities                      // words before the name of an entity that differs
)

// vocabularies are the words of each class.
var vocabularies = [...]struct {
	class class
	words string
}{
	{nouns, `checksum checksums crc crcs hash hashes sum sums digest digests state states rng random seed seeds statehash
		gamestate simhash crc32 md5 chk cksum randomness rand rnd`},
	{playful, `state states rng random seed seeds statehash gamestate simhash simulation sim sync game gameplay netplay
		lockstep rollback replay peer peers player players client host server remote turn tick frame prng randomness
		world replica replicas replaying replayed recorded`},
	{plural, `ticks frames turns steps cycles`},
	{numbering, `number num no nr id index count counter seq sequence is was`},
	{settled, `last confirmed previous good max maximum current now until oldest start synced per every next latest`},
	{roles, `local remote server client host guest own ours our mine my theirs their his master slave authoritative
		authority recorded recording replay replayed replaying ingame reference live saved stored original us them opponent peer self me you them your yours left
		right current leader follower leaseholder`},
	{outcomes, `expected expecting given actual got received found computed calculated correct want wanted have was
		observed sent`},
	{writers, `local own ours our mine my us i self me`},
	{peerNouns, `player client peer user participant slot node machine seat handle host`},
	{connecting, `but got expected vs versus on from in for at and instead should was is does doesn't do did differs differ
		local remote server client host frame tick turn actual not while received however cycle step player found
		correct replay`},
	{prosaic, `i we you my me it's i'm we're they can could would should must may maybe perhaps if when whenever while why
		how what which because since sometimes always often usually get gets getting seem think try tried trying
		please don't doesn't still about happens happened happening also every issue bug problem playing played play
		again so like just really anyone someone everybody everyone our though although some any many most both
		these those there here bisect users people example e g etc i.e. eg see who whose version until once where`},
	{conditional, `no not never without zero isn't wasn't won't didn't aren't avoid avoids avoided prevent prevents
		prevented until before any if when whenever unless can could would will must cannot can't fix
		fixes fixed fixing cause causes caused causing every each whether how why resolve resolves
		resolved handle handles debug debugging detects detecting find finds finding potential example
		about analyze investigate such`},
	{harmless, `detection checking checker threshold interval timeout log logs logging debug debugging enabled disabled
		option options setting settings tolerance handling recovery recover handler tool tools prevention protection
		fixed resolved recovered cleared passed ok avoided prevented free forensics triage rate ratio count counter
		counts counters report reports dump dumps file files folder issue issues bug bugs test tests simulator
		debugger analyzer analysis analyser warnings messages message handlers status state policy mode or and`},
	{failing, `failed failure`},
	{elsewhere, `file files download downloaded downloading package packages map maps mod mods version versions protocol
		archive content asset assets resource resources dll exe binary executable build builds zip pak wad config
		header password certificate database schema table image disk firmware block sector artifact module
		dependency lockfile commit cache cached flac ogg mp3 png stream decoder ethernet packet packets tcp udp
		payload upload install installer update updater patch save savegame rom signature manifest url uri http
		https repository chunk segment page inode partition key keys type types column row argument arguments sha256
		sha512 integrity token login account go.sum pip npm apt bundle plugin addon texture shader`},
	{changes, `fix fixes fixed fixing add adds added remove removes removed change changes changed improve improves
		improved prevent prevents avoid avoids make makes allow allows handle handles support supports implement
		implements use uses update updates refactor resolve resolves resolved reduce introduce bump revert tests
		check checks verify verifies ensure ensures document rename move merge detects reports shows prints logs
		writes don't never see run set enable disable if when return returns throw assert func void def class public
		private static import include raise bool int string var let const struct enum type package namespace for
		while switch case else usage option options example default optional deprecated note todo an a how why what
		where which can does`},
	{programs, `the game games client clients server host player players peer peers is are has have had been be gone went
		now network multiplayer simulation sim replay error errors warning warn fatal critical detected occurred
		found disconnecting disconnected session with your you lost connection netplay from and state states a an
		this match this because due to closing aborting stopping exiting resyncing resync quitting ending terminated
		terminating dumping checksums dump writing saving by possible at in world other local remote random seed rng
		checksum hash failed demo play playback`},
	{events, `detected occurred found is are has have went gone lost disconnecting disconnected failed failure loss
		aborting error`},
	{modules, `net network sync game engine lockstep multiplayer mp netcode netplay replay system sim simulation world core
		main rollback log console debugger core: exception panic stderr stdout assert assertion message msg fatal
		desynctool lua script session lobby protocol input state logic update physics`},
	{levels, `trace debug info notice warn warning error err fatal critical dbg severe verbose inf wrn ftl crit eror dbug
		e w i d f`},
	{months, `jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun am pm utc`},
	{subjects, `game replay this it that there we you they he she session multiplayer someone everyone anybody nobody
		simulation and state states which who client server the a i world match everything something error warning
		network others all both results result clients servers players peers sync checksum hash what one two
		machines machine log run runs engine`},
	{few, `failed test check checks value values data the a of that this its his has does not match saved verify
		verification during`},
	{digested, `crc md sha xxh xxhash fnv adler utf int uint`},
	{stored, `file files download downloaded downloading save savegame archive zip pak pk wad mod mods package plugin addon
		asset assets texture dll exe executable ruleset scenario level script scripts packet packets udp tcp datagram header
		eeprom firmware sector certificate password`},
	{perceived, `audio video subtitle subtitles sound music codec decoder mdec mpeg lip clock clocks ntp byte bytes seconds`},
	{pairing, `for of at on in is the and vs versus but by sync synced game simulation sim world check checked compare compared
		comparison player client peer`},
	{fields, `field property prop component comp variable var member attribute attr column register`},
	{entities, `entity object obj unit actor node instance`},
}

// lexicon has the classes of each word.
var lexicon = sync.OnceValue(func() map[string]class {
	all := map[string]class{}
	for _, l := range vocabularies {
		for _, w := range strings.Fields(l.words) {
			all[w] |= l.class
		}
	}
	return all
})

// has reports whether a word belongs to one of the classes. Words that end like one for a checksum are words for one:
// bankhash.
func (c class) has(w string) bool {
	of, ok := lexicon()[w]
	if !ok && c&nouns != 0 {
		return len(w) > len("hash") && strings.HasSuffix(w, "hash") || strings.HasSuffix(w, "checksum")
	}
	return of&c != 0
}

// spelled are long words that are known when they are misspelled.
var spelled = strings.Fields(`consistency inconsistency determinism nondeterminism synchronization synchronisation synchronized
	synchronised desynchronized desynchronised desynchronization desynchronisation unsynchronized unsynchronised mismatch
	mismatched checksum checksums`)

// spell returns the long word that a word is except for a slip, of two in very long ones; or the word itself. The first
// and the last letter are right.
func spell(w string) string {
	if len(w) < 7 || slices.Contains(spelled, w) || lexicon()[w] != 0 {
		return w
	}
	for _, s := range spelled {
		most := 1
		if len(s) > 11 {
			most = 2
		}
		if w[0] != s[0] || w[len(w)-1] != s[len(s)-1] || len(w)+most < len(s) || len(w) > len(s)+most {
			continue
		}
		if slips(w, s) <= most {
			return s
		}
	}
	return w
}

// slips counts the letters that are missing, too many, wrong, or in the place of their neighbour.
func slips(a, b string) int {
	var before, last, row [24]int
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// A phrase is words that follow each other. A bar is between alternatives.
type phrase []string

// phrases are some phrases by their first words.
type phrases map[string][]phrase

// book has all phrases that are looked for.
type book struct {
	strong  phrases // mean a desync by themselves
	weak    phrases // mean one near a noun
	apart   phrases // mean one with a tick
	unequal phrases // are between two sums that differ
}

var known = sync.OnceValue(func() *book {
	return &book{
		strong: read(

			"desync|desynced|desynch|desynched|desynchronized|desynchronised|desynchronization|desynchronisation|desyncing",
			"de sync|synced|synch|synched|synchronized|synchronised|synchronization|synchronisation",
			"out of sync|synch|synchronization|synchronisation", "outofsync", "oos",
			"unsynced|unsynchronized|unsynchronised",
			"error of|de|di|в sync", "sync|synch|synchronization|synchronisation error|errors|lost|loss|failure|mismatch|broken|broke",
			"lost|loses|losing|loss|lose sync|synch|synchronization|synchronisation",
			"lost|loses|losing|loss|lose of|the|its|your sync|synch|synchronization|synchronisation",
			"no longer in sync", "sync check|test failed|failure", "syncerror",
			"consistency failure|error|violation", "consistency check failed", "inconsistency detected|found",
			"determinism|nondeterminism|indeterminism failure|error|violation|detected|broken|mismatch",
			"determinism check|test|tests failed|failure", "state|simulation|world divergence detected|found", "simulation|simulations|sim|sims|world|worlds|lockstep|replay|replays diverged|diverges", "replay|replays mismatch|mismatched|mismatches",
			"non determinism detected", "checklist mismatch", "rng|prng|rand mismatch",
			"random seed|state|number mismatch", "app hash mismatch|mismatched",
			"wrong|invalid|incorrect|mismatched app hash", "state root mismatch|mismatched|differs", "invalid state|merkle|trie root",
		),
		weak: read(
			"mismatch|mismatched|mismatches|mismatching|differ|differs|diverged|diverge|diverges|unequal",
			"do|does|did not match|equal|agree", "failed|fails to match", "is|are inconsistent", "don't|doesn't|didn't match|equal|agree", "not equal|identical",
			"!=|!==",
			"should be", "expected|expecting", "checksum|checksums|crc|hash error|failure", "is wrong|different|incorrect", "are different", "test|check failed",
			"wrong|different|unexpected|incorrect", "instead we|it|they have|has|got|found",
		),
		apart: read(
			"diverged|divergence|diverges|differ at|on|in|after|between", "diverged|divergence detected|found",
			"first divergence|difference|different|differing", "mismatch|mismatched|mismatches|differ|differs",
		),
		unequal: read(
			"!=|!==|<>|->", "vs|versus", "should be|have", "instead of", "instead we|it|they have|has|got|found", "do|does|did not match|equal|agree",
			"don't|doesn't|didn't match|equal|agree",
			"differ|differs from", "not equal", "but", "expected|expecting|wanted",
		),
	}
})

// read reads some phrases.
func read(list ...string) phrases {
	out := phrases{}
	for _, p := range list {
		words := strings.Fields(p)
		for _, first := range strings.Split(words[0], "|") {
			out[first] = append(out[first], words)
		}
	}
	return out
}

// ticks are the words for a tick, after the name that it is shown with.
const ticks = `
tick: tick ticks simtick gametick
frame: frame frames frm framenum netframe simframe gameframe
turn: turn turns gameturn
step: step steps simstep
cycle: cycle cycles gamecycle
beat: beat
tic: tic gametic
time: time gametime simtime
loop: gameloop loop
round: round
`

// tickWords has the name for each word.
var tickWords = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(ticks) {
		name, words, _ := strings.Cut(line, ":")
		for _, w := range strings.Fields(words) {
			all[w] = name
		}
	}
	return all
})
