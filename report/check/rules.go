package check

import (
	"fmt"
	"strings"
)

// Rule is one rule of a page of docs/.
type Rule struct {
	ID    string // stable
	Level Level

	// Page is the page, Section the heading there, and Quote the exact text of the page.
	Page, Section, Quote string

	// Unchecked is the reason why a file does not show whether the rule holds; empty if it is checked.
	Unchecked string
}

// Anchor returns where the rule is: docs/orderlog.md#framing.
func (r *Rule) Anchor() string { return "docs/" + r.Page + "#" + slug(r.Section) }

// Said returns the quotation without the bars of a table.
func (r *Rule) Said() string {
	return strings.Trim(strings.ReplaceAll(strings.Join(strings.Fields(r.Quote), " "), "|", "·"), " ·")
}

// slug is what a heading is called in a link.
func slug(heading string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case c == ' ':
			out.WriteByte('-')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			out.WriteRune(c)
		}
	}
	return out.String()
}

// Rules returns all rules, by format and in the order of the pages. It is shared and must not be changed.
func Rules() []Rule { return rules }

var ruleByID = func() map[string]*Rule {
	all := make(map[string]*Rule, len(rules))
	for i := range rules {
		all[rules[i].ID] = &rules[i]
	}
	return all
}()

// ruleOf returns a rule of the table. A name that is not there is a mistake of this package, which
// its tests find.
func ruleOf(id string) *Rule {
	r := ruleByID[id]
	if r == nil {
		panic(fmt.Sprintf("conform: no rule %q", id))
	}
	return r
}

const (
	logPage    = "orderlog.md"
	snapPage   = "snapshot.md"
	tracePage  = "trace.md"
	reportPage = "peer-report.md"
	signPage   = "signatures.md"
	treePage   = "merkle.md"
	recordPage = "recording.md"

	header   = "Header: array of 10"
	tickPart = "Tick: array of 5"
	order    = "Order: array of 5"
	hashPart = "Hash: array of 5"
	marker   = "Marker: array of 8"
	who      = "Who writes which marker"
	blocks   = "Blocks and canonical bytes"
	theFile  = "The file"
)

// rules is the only table of rules: docs/rules.md is generated from it.
var rules = []Rule{
	{"frame-magic", Error, logPage, "Framing", "| magic | 8 bytes | `89 44 4f 4c 0d 0a 1a 0a` for an order log |", "a file that begins otherwise has another format: exit status 2"},
	{"frame-version", Error, logPage, "Framing", "a reader refuses 0 and any version it does not know", ""},
	{"frame-flags", Error, logPage, "Framing", "0; a reader refuses anything else", ""},
	{"frame-preamble-sum", Error, logPage, "Framing", "| checksum | u32 | of the 12 bytes before |", ""},
	{"frame-length", Error, logPage, "Framing", "of the payload in bytes, at most 16777216 (16 MiB)", ""},
	{"frame-payload-sum", Error, logPage, "Framing", "| payload checksum | u32 | of the payload |", ""},
	{"frame-header-sum", Error, logPage, "Framing", "| header checksum | u32 | of the 12 bytes before |", ""},
	{"frame-end", Error, logPage, "Framing", "A file is a preamble, frames, an end marker, and nothing after it.", ""},
	{"frame-end-count", Error, logPage, "Framing", "the number of frames before it, the header's included", ""},
	{"frame-after-end", Error, logPage, "How a file ends", "bytes after the end marker", ""},
	{"frame-one-write", Advice, logPage, "Framing", "A writer hands each frame to the system in one write", "a file does not show how it was written"},

	{"order-header-first", Error, logPage, "Payloads", "the first frame, and no other", ""},
	{"order-kind", Error, logPage, "Payloads", "Any other kind is corrupt.", ""},
	{"order-value", Error, logPage, "Payloads", "Each payload is exactly one", ""},
	{"order-type", Error, logPage, "Payloads", "mean that family and no other; nil has no meaning and is refused.", ""},
	{"order-shortest", Error, logPage, "Payloads", "A writer takes the shortest form of integers, lengths and strings", ""},
	{"order-limit", Error, logPage, "Payloads", "No string is longer than 65536 bytes.", ""},
	{"order-utf8", Advice, logPage, "Payloads", "Strings should be UTF-8", ""},
	{"order-rate", Error, logPage, header, "Both above 0, or both 0 if not known", ""},
	{"order-kind-names", Error, logPage, header, "Names are unique and not empty", ""},
	{"order-peer-name", Advice, logPage, header, "if the name is not in the list no hash is known to be its own", ""},
	{"order-peer-twice", Advice, logPage, header, "The number of the log's own peer is the number of its name here", ""},
	{"order-params", Error, logPage, header, "keys strictly ascending by bytes", ""},
	{"order-no-input-hash", Advice, logPage, tickPart, "as the peer computed it; all zero if it did not", ""},
	{"order-ascending", Error, logPage, tickPart, "Within an epoch ticks strictly ascend.", ""},
	{"order-first-point", Error, logPage, tickPart, "The first tick is not below the first point.", ""},
	{"order-frame-before-tick", Advice, logPage, tickPart, "A game that writes the frame of a tick before it plays it", "a file does not show when it was written"},
	{"order-observed", Error, logPage, "Observed: array of hash", "At least one.", ""},
	{"order-order-kind", Error, logPage, order, "index into the header's order kinds", ""},
	{"order-payload", Error, logPage, order, "at most 4194304 bytes (4 MiB)", ""},
	{"order-applied", Error, logPage, order, "Orders of a tick must be applied in ascending (sub tick, player, sequence)", ""},
	{"order-hash-name", Error, logPage, hashPart, "1 to 64 of `A-Z a-z 0-9 - _`", ""},
	{"order-hash-usual", Advice, logPage, hashPart, "other widths are kept and not used", ""},
	{"order-hash-width", Error, logPage, hashPart, "1 to 64 bytes", ""},
	{"order-marker-kind", Error, logPage, marker, "| Kind | | May open an epoch |", ""},
	{"order-marker-epoch", Error, logPage, marker, "May open an epoch", ""},
	{"order-marker-unused", Error, logPage, marker, "0 where the kind has no use for it; so are the next two", ""},
	{"order-marker-history", Error, logPage, marker, "the history hash that a new epoch adopts, not all zero", ""},
	{"order-one-epoch", Error, logPage, "Epochs", "A tick opens one epoch at most.", ""},
	{"order-marker-point", Error, logPage, who, "`point` is T in all of them", ""},
	{"order-who", Error, logPage, who, "every log that has tick T has them in tick T", "it takes the logs of all peers: `orders` compares their markers"},
	{"order-every-tick", Advice, logPage, "Stretches", "**a writer does best to write every tick**", ""},
	{"order-input-hash", Error, logPage, "Input hash", "The first 8 bytes of SHA-256 over these bytes, all integers little-endian:", ""},
	{"order-hash-twice", Error, logPage, "Comparing logs", "Two hashes of one peer for the same point and epoch", ""},
	{"hash-sync", Error, treePage, "Nodes and root", "The **sync hash** is the first 8 bytes of the root.", ""},
	{"hash-history", Error, treePage, "History", "h(T) = SHA-256( h(T − 1) ‖ the 8 bytes of the sync hash at point T )", ""},

	{"snap-magic", Error, snapPage, "File", "| magic | 0 | 89 53 4E 41 50 0D 0A 1A |", "a file that begins otherwise has another format: exit status 2"},
	{"snap-usual-name", Advice, snapPage, "Names", "desync_<seed, 16 hex digits>_<tick, 10 decimal digits>.snap", ""},
	{"snap-file-name", Advice, snapPage, "Names", "Where name and header disagree the header counts.", ""},
	{"snap-phase", Error, snapPage, "Model", "The phase of a point is empty, or `after-orders`", ""},
	{"snap-keys", Error, snapPage, "Model", "a **key** for each row (one or two u64, strictly ascending)", ""},
	{"snap-column-type", Error, snapPage, "Model", "| Type | Number | Bytes | |", ""},
	{"snap-bool", Error, snapPage, "Model", "| bool | 1 | 1 | 0 or 1 |", ""},
	{"snap-scale", Error, snapPage, blocks, "Scale is 0 for every type but fixed.", ""},
	{"snap-utf8", Advice, snapPage, "Model", "bytes meant as UTF-8; any bytes are kept", ""},
	{"snap-text", Error, snapPage, "Model", "Labels, component and field names are UTF-8", ""},
	{"snap-name", Error, snapPage, "Model", "1 to 1024 bytes", ""},
	{"snap-cuts", Error, snapPage, blocks, "cut into **blocks** by their keys alone", ""},
	{"snap-block-head", Error, snapPage, blocks, "| u8 0x04, u8 bitmap, u16 0, u32 rows |", ""},
	{"snap-bitmap", Error, snapPage, blocks, "bitmap is 1 if a value of this block is absent, else 0", ""},
	{"snap-spare-bits", Error, snapPage, blocks, "spare bits are 0", ""},
	{"snap-absent", Error, snapPage, blocks, "all zero bytes where absent", ""},
	{"snap-block-size", Error, snapPage, blocks, "u32 length × rows (0 where absent), then the contents back to back", ""},
	{"snap-block-digest", Error, snapPage, blocks, "The digest of a block is SHA-256 of these bytes.", ""},
	{"snap-keys-digest", Error, snapPage, blocks, "keys digest = SHA-256( u8 0x05", ""},
	{"snap-column-digest", Error, snapPage, blocks, "column digest = SHA-256( u8 0x06", ""},
	{"snap-leaf", Error, snapPage, blocks, "A table's leaf hash is made of its label, its number of rows", ""},
	{"snap-columns-order", Error, snapPage, blocks, "Columns are ordered by component, then field, as bytes", ""},
	{"snap-tables-order", Error, snapPage, blocks, "tables by class, then label, as bytes", ""},
	{"snap-end", Error, snapPage, "File", `end 8 bytes: "SNAP.END"`, ""},
	{"snap-gaps", Error, snapPage, "File", "There are no gaps.", ""},
	{"snap-version", Error, snapPage, "File", "| version | 8 | u16, 1 |", ""},
	{"snap-flags", Error, snapPage, "File", "| flags | 10 | u16, 0 |", ""},
	{"snap-header-sum", Error, snapPage, "File", "| header CRC | 16 | u32, of the header |", ""},
	{"snap-length", Error, snapPage, "File", "| file length | 20 | u64, bytes of the whole file |", ""},
	{"snap-preamble-sum", Error, snapPage, "File", "| preamble CRC | 28 | u32, of bytes 0 to 27 |", ""},
	{"snap-integer-form", Advice, snapPage, "File", "A writer should give each the form of its type", "a reader takes any form, and nothing follows from it"},
	{"snap-value", Error, snapPage, "File", "header one MessagePack value", ""},
	{"snap-type", Error, snapPage, "File", "`bin` is a MessagePack bin, `str` a str.", ""},
	{"snap-root", Error, snapPage, "File", "bin of 32 bytes: the state hash", ""},
	{"snap-properties", Error, snapPage, "File", "names ascending as bytes", ""},
	{"snap-class", Error, snapPage, "File", "0 archetype, 1 cache, 2 noise", ""},
	{"snap-codec", Error, snapPage, "File", "A cell is stored as its canonical bytes (codec 0), or,", ""},
	{"snap-shorter", Error, snapPage, "File", "only where that is shorter", ""},
	{"snap-zstd", Error, snapPage, "File", "It is exactly one frame", ""},
	{"snap-index-sum", Error, snapPage, "File", "**Index**: one MessagePack value, then the u32 CRC of it.", ""},
	{"snap-bins", Error, snapPage, "File", "the bins hold little-endian numbers", ""},
	{"snap-first-key", Error, snapPage, "File", "first part of the key of each block's first row", ""},
	{"snap-rows", Error, snapPage, "File", "rows of each block", ""},
	{"snap-cell-size", Error, snapPage, "File", "bytes of the cell's canonical form", ""},
	{"snap-cell-sum", Error, snapPage, "File", "CRC of the cell as it is stored", ""},
	{"snap-block-rows", Error, snapPage, "Limits", "| rows of a block | 65536, by the rule of the cuts |", ""},
	{"snap-limit", Error, snapPage, "Limits", "What a reader refuses, before it allocates anything", ""},

	{"trace-header-first", Error, tracePage, "Binary", "header: the first frame, and no other", ""},
	{"trace-kind", Error, tracePage, "Binary", "Any other kind of frame is corrupt.", ""},
	{"trace-value", Error, tracePage, "Binary", "Each payload is exactly one MessagePack array", ""},
	{"trace-type", Error, tracePage, "Binary", "checkpoint = [system u32, scope u32, phase u8, [sum...]]", ""},
	{"trace-shortest", Error, tracePage, "Binary", "a writer takes the shortest form of integers, lengths and strings", ""},
	{"trace-limit", Error, tracePage, "Binary", "A header has at most 65536 pairs, a trace 1048576 names", ""},
	{"trace-utf8", Advice, tracePage, "Binary", "Strings should be UTF-8.", ""},
	{"trace-rate", Error, tracePage, "Binary", "Both numbers of the tick rate are above 0, or both 0 if it is not known.", ""},
	{"trace-meta", Error, tracePage, "Binary", "keys ascend", ""},
	{"trace-name", Error, tracePage, "Binary", "Systems, scopes and names of sums are numbers in the list of names.", ""},
	{"trace-checkpoints", Error, tracePage, "Binary", "A frame of checkpoints has one at least", ""},
	{"trace-nothing", Error, tracePage, "Binary", "a checkpoint a sum or a count", ""},
	{"trace-sum-twice", Error, tracePage, "Binary", "names of sums are unique in it", ""},
	{"trace-sum-name", Error, tracePage, "Text", "Names of sums have no blanks, no `=` and no `\"`.", ""},
	{"trace-sum-empty", Error, tracePage, "Binary", "no value is empty", ""},
	{"trace-sum-bytes", Error, tracePage, "Binary", "a str that does not look like bytes in the text", ""},
	{"trace-phase", Error, tracePage, "Binary", "Phase 0 is confirmed, 1 predicted.", ""},
	{"trace-event", Error, tracePage, "Binary", "Event kinds are 1 save, 2 restore", ""},
	{"trace-unused", Error, tracePage, "Binary", "what a kind has no use for is 0", ""},
	{"trace-numbering", Advice, tracePage, "Binary", "names are numbered as they first come, system before scope before sums", ""},
	{"trace-batch", Advice, tracePage, "Binary", "checkpoints of one tick that follow each other share a frame", ""},
	{"trace-order", Advice, tracePage, "What a trace holds", "Checkpoints are in the order of execution.", ""},
	{"trace-back", Advice, tracePage, "What a trace holds", "A tick that goes back by more than 256", ""},
	{"text-first", Advice, tracePage, "Text", "A text that has neither ends where it ends", ""},
	{"text-last", Error, tracePage, "Text", "With the first line, the last one is due: without it the trace is torn.", ""},
	{"text-cut", Advice, tracePage, "Text", "a last line without a line feed is taken for cut off", ""},
	{"text-after", Error, tracePage, "Text", `trace = [ "%desynctool trace 1" ] { header } { record } [ last ]`, ""},
	{"text-header", Error, tracePage, "Text", "{ header } { record }", ""},
	{"text-line", Error, tracePage, "Text", "A line that is longer or malformed is counted and passed over.", ""},
	{"text-written", Advice, tracePage, "Text", "That is what is written.", ""},
	{"text-key", Advice, tracePage, "Text", "skips pairs with other keys", ""},
	{"text-twice", Error, tracePage, "Text", "A key may come once.", ""},
	{"text-needs", Error, tracePage, "Text", "A checkpoint needs a tick, and a sum or `n`.", ""},
	{"text-value", Error, tracePage, "Text", "one that is empty, begins with `\"` or has other than printable characters is a Go string literal in double quotes", ""},
	{"text-length", Error, tracePage, "Text", "A name, a value and a string are at most 65536 bytes", ""},

	{"report-file-name", Advice, reportPage, theFile, "The name selects the file, what is in it counts.", ""},
	{"report-json", Error, reportPage, theFile, "One JSON object in UTF-8", ""},
	{"report-size", Error, reportPage, theFile, "of at most 64 MiB", ""},
	{"report-schema", Error, reportPage, theFile, "| `schema` | string | `desynctool.peer-report/1` |", ""},
	{"report-status", Error, reportPage, theFile, "`inconclusive` if that is not known (the default)", ""},
	{"report-type", Error, reportPage, theFile, "| Key | Type | |", ""},
	{"report-phase", Error, reportPage, theFile, "empty, or `after-orders` where the state is that inside tick T, between its orders and the rest", ""},
	{"report-required", Error, reportPage, theFile, "The first four have to be there.", ""},
	{"report-null", Error, reportPage, theFile, "Unknown values are left out, never null.", ""},
	{"report-unknown", Advice, reportPage, theFile, "Other keys are skipped", ""},
	{"report-twice", Error, reportPage, theFile, "a key that occurs twice is an error", ""},
	{"report-integers", Error, reportPage, theFile, "Integers are written without fraction or exponent.", ""},
	{"report-hex", Error, reportPage, theFile, "Hex digits may be of either case, without `0x`.", ""},
	{"report-hash", Error, reportPage, theFile, "the state hash, 32 bytes, or the sync hash, its first 8 bytes", ""},
	{"report-nodes-order", Error, reportPage, theFile, "then each archetype in the byte order of the labels, without repetition", ""},
	{"report-nodes-width", Error, reportPage, theFile, "All have 32 bytes, or all have 8, the truncated tree", ""},
	{"report-limit", Error, reportPage, theFile, "at most 65,536", ""},
	{"report-base64", Error, reportPage, theFile, "in Base64 with padding (RFC 4648, section 4)", ""},
	{"report-world", Error, reportPage, theFile, "which holds one table, the archetype of that label", ""},
	{"report-world-header", Error, reportPage, theFile, "Its header has the seed, the state point and the RNG state of the report", ""},
	{"report-label-twice", Error, reportPage, theFile, "Each label occurs once.", ""},
	{"report-order", Error, reportPage, theFile, "Tick, player and kind have to be there", ""},
	{"report-order-late", Error, reportPage, theFile, "orders of the ticks before T", ""},
	{"report-window", Error, reportPage, theFile, "the first and the last tick whose orders the excerpt has, both of them in full", ""},
	{"report-order-window", Error, reportPage, theFile, "`{\"from\":…,\"to\":…}`: the first and the last tick whose orders the excerpt has", ""},
	{"report-no-window", Advice, reportPage, theFile, "with one also an order that is *not* there counts, so give it", ""},
	{"report-root", Error, reportPage, "What is checked", "the state hash, and the root of the nodes (if they have 32 bytes)", ""},
	{"report-rng", Error, reportPage, "What is checked", "the node of the RNG, and the hash of its state", ""},
	{"report-node-content", Error, reportPage, "What is checked", "the node of an archetype, and the hash of the content that is included", ""},
	{"report-redacted", Error, reportPage, "Redacted", "Such a report cannot be merged.", ""},

	{"folder-seed", Advice, recordPage, "Facts", "| `seed` | | yes | header of order logs, snapshots, traces | `00000000000010e1` |", ""},
	{"folder-sync", Error, treePage, "Nodes and root", "The **sync hash** is the first 8 bytes of the root.", ""},
	{"folder-state", Error, treePage, "Nodes and root", "The root is the **state hash**.", ""},
	{"folder-history", Error, treePage, "History", "over confirmed points, one at a time", ""},
	{"folder-report", Error, reportPage, theFile, "the state point T of all hashes: the state before tick T's orders are applied", ""},
	{"folder-own-checksum", Advice, recordPage, "Pieces", "8 bytes of the state hash, or any checksum of 8 bytes", ""},

	{"sign-header-first", Error, signPage, "File", "the first frame, and no other", ""},
	{"sign-kind", Error, signPage, "File", "Any other kind is corrupt, and so is another length", ""},
	{"sign-limit", Error, signPage, "File", "No payload is longer than 1048576 bytes (1 MiB).", ""},
	{"sign-header", Error, signPage, "Header", "a reader needs all four, each once", ""},
	{"sign-shortest", Error, signPage, "Header", "these four keys, in this order and in the shortest form", ""},
	{"sign-utf8", Advice, signPage, "Header", "name of the peer that signs, at most 65536 bytes, in UTF-8", ""},
	{"sign-unknown", Advice, signPage, "Header", "Other keys are passed over. No signature covers them", ""},
	{"sign-signature", Error, signPage, "What is hashed, what is signed", "Signatures are pure Ed25519 (RFC 8032, without context or prehash)", ""},
	{"sign-previous", Error, signPage, "Entry", "link hash of the entry before; of the first entry the genesis", ""},
	{"sign-skipped", Error, signPage, "Entry", "tick − tick of the entry before − 1; 0 in the first entry", ""},
	{"sign-ascending", Error, signPage, "Entry", "Ticks strictly ascend.", ""},
	{"sign-full-root", Error, signPage, "Entry", "the full Merkle root of the state at that point, before the tick's orders", "the state is not in the file; verify STATE --signatures shows it"},
	{"sign-last", Error, signPage, "End", "link hash of the last entry; the genesis if there is none", ""},
	{"sign-count", Error, signPage, "End", "8 count of entries", ""},
	{"sign-no-end", Advice, signPage, "End", "Written when the chain is closed.", ""},

	{"record-sync", Advice, recordPage, "What to record", "an order log with a sync hash of each tick, on every peer", ""},
	{"record-history", Advice, recordPage, "Pieces", "shows a healed divergence, and speeds up a search", ""},
	{"record-build", Advice, recordPage, "Facts", "| `build` | `version`, `engine_version` | yes | header of order logs and traces; property |", ""},
	{"record-rate", Advice, recordPage, "Facts", "| `tick rate` | | yes | header of order logs and traces |", ""},
	{"record-start", Advice, recordPage, "Facts", "header of an order log that begins at point 0: *start*", ""},
	{"record-snap-peer", Advice, snapPage, "File", "peer str, empty if not known", ""},
	{"record-names", Advice, recordPage, "Facts", "Other properties are not compared; `dump` shows them.", ""},
	{"record-machine-param", Advice, recordPage, "Facts", "`doctor` takes every parameter for one that must be the same.", ""},
}
