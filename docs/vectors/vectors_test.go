// Package vectors_test holds the reference vectors of docs/vectors against a naive implementation
// that is written from the pages of docs/ alone, and against the readers and writers of desynctool.
package vectors

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/pinned"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/check"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
	"github.com/desynctool/desynctool/tracediff"
)

// vector is one entry of a file of vectors: the input, and the output.
type vector struct {
	Name string `json:"name"`
	In   any    `json:"in"`
	Out  any    `json:"out"`
}

// file is a file of vectors.
type file struct {
	About   string   `json:"about"`
	Page    string   `json:"page"` // where it is specified
	Vectors []vector `json:"vectors"`
}

type object = map[string]any

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func hexes(list [][]byte) (out []any) {
	out = []any{}
	for _, b := range list {
		out = append(out, hexOf(b))
	}
	return out
}

// parsed is a value as it is read from JSON, with numbers as they are written there.
func parsed(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return v
}

// inputs are what the vectors are of. What comes out is computed.
var inputs = []struct{ file, about, page, name, in string }{
	{"msgpack", "Values in the shortest form, as order logs and traces have them. In: the value, as README.md says. Out: its bytes.", "orderlog.md#payloads", "0", `0`},
	{"msgpack", "", "", "127, the largest in one byte", `127`},
	{"msgpack", "", "", "128, u8", `128`},
	{"msgpack", "", "", "255", `255`},
	{"msgpack", "", "", "256, u16", `256`},
	{"msgpack", "", "", "65535", `65535`},
	{"msgpack", "", "", "65536, u32", `65536`},
	{"msgpack", "", "", "4294967295", `4294967295`},
	{"msgpack", "", "", "4294967296, u64", `{"u64":"4294967296"}`},
	{"msgpack", "", "", "the largest u64", `{"u64":"18446744073709551615"}`},
	{"msgpack", "", "", "false and true", `[false, true]`},
	{"msgpack", "", "", "nil, in snapshots alone", `null`},
	{"msgpack", "", "", "empty str", `""`},
	{"msgpack", "", "", "str in UTF-8", `"größe"`},
	{"msgpack", "", "", "str of 31 bytes", `"abcdefghijklmnopqrstuvwxyzabcde"`},
	{"msgpack", "", "", "str of 32 bytes, str 8", `"abcdefghijklmnopqrstuvwxyzabcdef"`},
	{"msgpack", "", "", "empty bin", `{"bin":""}`},
	{"msgpack", "", "", "bin", `{"bin":"00ff"}`},
	{"msgpack", "", "", "empty array", `[]`},
	{"msgpack", "", "", "array of 15", `[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14]`},
	{"msgpack", "", "", "array of 16, array 16", `[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]`},
	{"msgpack", "", "", "map, of a snapshot's properties", `{"map":["build","1.0","os","Debian 12"]}`},

	{"crc32c", "CRC-32C. In: bytes in hex. Out: the checksum as a number in hex, and as it is stored.", "orderlog.md#framing", "no bytes", `""`},
	{"crc32c", "", "", "123456789", `"313233343536373839"`},
	{"crc32c", "", "", "32 zero bytes", `"0000000000000000000000000000000000000000000000000000000000000000"`},
	{"crc32c", "", "", "32 bytes ff", `"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"`},

	{"framing", "Order logs and binary traces. In: what is framed. Out: the bytes.", "orderlog.md#framing", "preamble of an order log", `{"preamble":"order log"}`},
	{"framing", "", "", "preamble of a trace", `{"preamble":"trace"}`},
	{"framing", "", "", "frame", `{"kind":2, "payload":"93010203"}`},
	{"framing", "", "", "frame without payload", `{"kind":7, "payload":""}`},
	{"framing", "", "", "end marker after 4 frames", `{"end":4}`},

	{"blocks", "Where blocks begin. In: a key. Out: cut(A, B) in hex, and whether the key begins a block wherever it stands.", "snapshot.md#blocks-and-canonical-bytes", "0", `"0"`},
	{"blocks", "", "", "1", `"1"`},
	{"blocks", "", "", "the first above 0 that begins one", `"8856"`},
	{"blocks", "", "", "the largest", `"18446744073709551615"`},
	{"blocks", "", "", "two parts", `"7:3"`},

	{"keys", "Keys of a table of one block. In: keys. Out: canonical bytes of the block, its digest, the keys digest.", "snapshot.md#blocks-and-canonical-bytes", "one part", `["3", "8", "18446744073709551615"]`},
	{"keys", "", "", "two parts", `["3:0", "3:1", "4:0"]`},
	{"keys", "", "", "none: a table without rows has no blocks", `[]`},

	{"values", "Columns of one block. In: component, field, type, scale of fixed, and the values; null is absent. Out: canonical bytes of the block, its digest, the column digest.", "snapshot.md#blocks-and-canonical-bytes", "bool", `{"component":"T", "field":"bool", "type":"bool", "values":["true", "false"]}`},
	{"values", "", "", "i8", `{"component":"T", "field":"i8", "type":"i8", "values":["-128", "-1", "0", "127"]}`},
	{"values", "", "", "i16", `{"component":"T", "field":"i16", "type":"i16", "values":["-32768", "-1", "32767"]}`},
	{"values", "", "", "i32", `{"component":"T", "field":"i32", "type":"i32", "values":["-2147483648", "-1", "2147483647"]}`},
	{"values", "", "", "i64", `{"component":"T", "field":"i64", "type":"i64", "values":["-9223372036854775808", "-1", "9223372036854775807"]}`},
	{"values", "", "", "u8", `{"component":"T", "field":"u8", "type":"u8", "values":["0", "255"]}`},
	{"values", "", "", "u16", `{"component":"T", "field":"u16", "type":"u16", "values":["1", "65535"]}`},
	{"values", "", "", "u32", `{"component":"T", "field":"u32", "type":"u32", "values":["1", "4294967295"]}`},
	{"values", "", "", "u64", `{"component":"T", "field":"u64", "type":"u64", "values":["1", "18446744073709551615"]}`},
	{"values", "", "", "f32: zeros, an infinity, the smallest denormal, one that rounds, NaNs with their bits", `{"component":"T", "field":"f32", "type":"f32", "values":["0", "-0", "inf", "-inf", "1e-45", "0.1", "nan(0x7fc00000)", "nan(0xffc00001)"]}`},
	{"values", "", "", "f64", `{"component":"T", "field":"f64", "type":"f64", "values":["0", "-0", "inf", "-inf", "5e-324", "0.1", "nan(0x7ff8000000000000)", "nan(0x7ff0000000000001)"]}`},
	{"values", "", "", "fixed: units of 1/65536", `{"component":"T", "field":"fixed", "type":"fixed", "scale":65536, "values":["98304/65536", "-16384/65536", "0/65536"]}`},
	{"values", "", "", "fixed of another scale: another digest", `{"component":"T", "field":"fixed", "type":"fixed", "scale":3, "values":["98304/3", "-16384/3", "0/3"]}`},
	{"values", "", "", "string: empty is not absent", `{"component":"T", "field":"string", "type":"string", "values":["größe", "", null]}`},
	{"values", "", "", "bytes", `{"component":"T", "field":"bytes", "type":"bytes", "values":["0x00ff", "0x", null]}`},
	{"values", "", "", "ref", `{"component":"T", "field":"ref", "type":"ref", "values":["@0", "@18446744073709551615", null]}`},
	{"values", "", "", "scalar: the bytes of each value", `{"component":"T", "field":"scalar", "type":"scalar", "values":["\"größe", "x\u0001", "-0", "1.5e+21", "true", "null", null]}`},
	{"values", "", "", "bitmap of 9 rows", `{"component":"T", "field":"u8", "type":"u8", "values":["1", null, "3", "4", "5", "6", "7", null, "9"]}`},
	{"values", "", "", "bitmap where no value is there", `{"component":"T", "field":"i32", "type":"i32", "values":[null, null]}`},
	{"values", "", "", "no rows, no blocks", `{"component":"T", "field":"i32", "type":"i32", "values":[]}`},

	{"leaves", "Leaves of the tree. In: the RNG state, or label, rows and digests, the keys digest first. Out: what is hashed, and the leaf.", "merkle.md#leaves", "RNG of 4 bytes", `{"rng":"01020304"}`},
	{"leaves", "", "", "RNG of 8 bytes", `{"rng":"0123456789abcdef"}`},
	{"leaves", "", "", "RNG with an empty state", `{"rng":""}`},
	{"leaves", "", "", "archetype", `{"label":"Infantry", "rows":2, "digests":["8e01e555b2bfc95176e4c6912da35ab456998a6972c34757667c96eeb97d1787", "dfd3b76b1cee4113c62d52018ce3a53dcbb7f4a6a98dbad8ef18728eb8e00244"]}`},
	{"leaves", "", "", "archetype without rows and columns", `{"label":"Ünit", "rows":0, "digests":["e6c35e10ccf4f96a4d1ae2c7ff4a4e90b0b8b6e3a3b9b6f4e1d2c3b4a5968778"]}`},

	{"trees", "Trees over leaves. In: leaves. Out: the levels, the truncated tree, the root (the state hash), the sync hash in byte order and as a number, and a proof of each leaf.", "merkle.md#nodes-and-root", "no leaves", `[]`},
	{"trees", "", "", "1 leaf", `[1]`},
	{"trees", "", "", "2 leaves", `[1,2]`},
	{"trees", "", "", "3 leaves: the last one is promoted", `[1,2,3]`},
	{"trees", "", "", "5 leaves: promoted twice", `[1,2,3,4,5]`},

	{"history", "History hashes. In: the state hash at the first point, then the sync hash of each point that follows. Out: h of each point.", "merkle.md#history", "three points", `{"start":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "sync":["b5c8bea2d1f6a904", "0f1e2d3c4b5a6978"]}`},

	{"orderlog", "Payloads of an order log. In: the value. Out: the bytes, and for a tick the input hash that its orders have with the kinds of the first header here.", "orderlog.md#payloads", "header",
		`{"record":"header", "value":[7, "host", "1.0", [30, 1], {"bin":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, 0, 0, [["move", false], ["chat", true]], ["host", "client"], [["map", "green valley"], ["rules", "short"]]]}`},
	{"orderlog", "", "", "header of which little is known", `{"record":"header", "value":[{"u64":"18446744073709551615"}, "", "", [0, 0], {"bin":"0000000000000000000000000000000000000000000000000000000000000000"}, 500, 2, [], [], []]}`},
	{"orderlog", "", "", "tick without orders", `{"record":"tick", "value":[0, {"bin":"df3f619804a92fdb"}, [], [[0, 0, "sync", "", {"bin":"e3b0c44298fc1c14"}]], []]}`},
	{"orderlog", "", "", "tick with orders: the second one is local", `{"record":"tick", "value":[1, {"bin":"29170bc06d8bc656"}, [[16667, 1, 4, 1, {"bin":"6767"}], [16667, 2, 17, 0, {"bin":"9301cd0400"}]], [], []]}`},
	{"orderlog", "", "", "tick with two orders of one time: by player, then sequence", `{"record":"tick", "value":[300, {"bin":"0000000000000000"}, [[0, 0, 9, 0, {"bin":"01"}], [0, 1, 2, 0, {"bin":""}], [0, 1, 3, 0, {"bin":"02"}]], [], []]}`},
	{"orderlog", "", "", "hashes", `{"record":"observed", "value":[[2, 0, "sync", "", {"bin":"0f1e2d3c4b5a6978"}], [2, 0, "state", "", {"bin":"0f1e2d3c4b5a697800000000000000000000000000000000000000000000000000"}], [2, 0, "history", "", {"bin":"1111111111111111111111111111111111111111111111111111111111111111"}], [2, 1, "sync", "quick", {"bin":"beef"}]]}`},
	{"orderlog", "", "", "marker join", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[1, 3, 1, 0, 2, false, {"bin":""}, "Anna"]]]}`},
	{"orderlog", "", "", "marker leave", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[2, 3, 1, 0, 2, false, {"bin":""}, ""]]]}`},
	{"orderlog", "", "", "marker removal", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[3, 3, 1, 0, 2, false, {"bin":""}, "cheat"]]]}`},
	{"orderlog", "", "", "marker reconnect", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[4, 3, 1, 0, 2, false, {"bin":""}, ""]]]}`},
	{"orderlog", "", "", "marker save", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[5, 0, 0, 0, 2, false, {"bin":""}, "autosave"]]]}`},
	{"orderlog", "", "", "marker load, with a new epoch and the history hash that it adopts", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[6, 0, 0, 0, 2, true, {"bin":"1111111111111111111111111111111111111111111111111111111111111111"}, ""]]]}`},
	{"orderlog", "", "", "marker resync, with a new epoch without history", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[7, 0, 0, 0, 2, true, {"bin":""}, ""]]]}`},
	{"orderlog", "", "", "marker failed-order", `{"record":"tick", "value":[2, {"bin":"df3f619804a92fdb"}, [], [], [[8, 1, 0, 17, 2, false, {"bin":""}, "no such unit"]]]}`},

	{"trace", "Payloads of a binary trace. In: the kind of the frame and the value. Out: the bytes.", "trace.md#binary", "header", `{"frame":1, "value":[[7], "host", "1.0", [30, 1], [["map", "green valley"]]]}`},
	{"trace", "", "", "header without a seed", `{"frame":1, "value":[[], "", "", [0, 0], []]}`},
	{"trace", "", "", "names: 1 to 4", `{"frame":2, "value":["Movement", "Infantry", "Combat", "rng"]}`},
	{"trace", "", "", "checkpoints", `{"frame":3, "value":[0, [[1, 2, 0, [[0, {"bin":"6a09e667bb67ae85"}]], 250], [3, 0, 1, [[0, "3C6EF372"], [4, {"bin":"510e"}]]]]]}`},
	{"trace", "", "", "event save", `{"frame":4, "value":[1, 1, 0, 0, 0, [[0, {"bin":"1f83d9ab"}]]]}`},
	{"trace", "", "", "event restore", `{"frame":4, "value":[2, 1, 3, 0, 0, [[0, {"bin":"1f83d9ab"}]]]}`},
	{"trace", "", "", "event resimulate", `{"frame":4, "value":[3, 1, 2, 0, 0, []]}`},
	{"trace", "", "", "event input", `{"frame":4, "value":[4, 1, 0, 2, 1, [[0, {"bin":"beef"}]]]}`},

	{"signatures", "Chains of tick signatures. In: the seed of the Ed25519 secret key, the header, and tick and state hash of each entry. Out: the bytes of each piece, and of the file. Of a file that does not hold, then says what was done to it; out is the file and its first break.", "signatures.md", "public key",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}`},
	{"signatures", "", "", "header and genesis",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}}`},
	{"signatures", "", "", "header with the largest seed, a name in UTF-8, start not known",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":{"u64":"18446744073709551615"}, "peer":"größe", "start":"0000000000000000000000000000000000000000000000000000000000000000"}}`},
	{"signatures", "", "", "three entries, of which the last skips 29 ticks: each piece, and the file",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true}`},
	{"signatures", "", "", "chain that was not closed: its last entry is followed by nothing",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":false}`},
	{"signatures", "", "", "chain without entries",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[], "end":true}`},
	{"signatures", "", "", "broken: state hash of entry 1 changed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"state of entry":1}}`},
	{"signatures", "", "", "broken: signature of entry 1 changed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"signature of entry":1}}`},
	{"signatures", "", "", "broken: skipped of entry 1 changed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"skipped of entry":1}}`},
	{"signatures", "", "", "broken: entry 1 removed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"without entry":1}}`},
	{"signatures", "", "", "broken: entry 0 removed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"without entry":0}}`},
	{"signatures", "", "", "broken: last entry removed: the end counts another",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"without entry":2}}`},
	{"signatures", "", "", "broken: entries 1 and 2 swapped",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"swapped":[1, 2]}}`},
	{"signatures", "", "", "broken: seed of the header changed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"seed":8}}`},
	{"signatures", "", "", "broken: key of the header is of another secret",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"key of":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"}}`},
	{"signatures", "", "", "broken: entry 1 of the same key's chain of another peer",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"entry of peer":"client", "entry":1}}`},
	{"signatures", "", "", "broken: signer wrote 28 skipped instead of 29",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"skipped":28, "signed entry":2}}`},
	{"signatures", "", "", "broken: signer signed tick 1 twice",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"tick":1, "signed entry":2}}`},
	{"signatures", "", "", "broken: count of the end changed",
		`{"secret":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "header":{"seed":7, "peer":"host", "start":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, "entries":[{"tick":0, "state":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}, {"tick":1, "state":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"}, {"tick":31, "state":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986"}], "end":true, "then":{"count":4}}`},

	{"signatures", "", "", "key of small order, 1",
		`{"key":"0100000000000000000000000000000000000000000000000000000000000000", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 2",
		`{"key":"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "message":"646573796e63746f6f6c", "signature":"e6ff0e4955925b2100e8ceebbd4ffe93e6fdfc71c226b33409a570d916254f720200000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 3",
		`{"key":"0000000000000000000000000000000000000000000000000000000000000000", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 4",
		`{"key":"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "message":"646573796e63746f6f6c", "signature":"95999999999999999999999999999999999999999999999999999999999999990100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 5",
		`{"key":"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "message":"646573796e63746f6f6c", "signature":"95999999999999999999999999999999999999999999999999999999999999990100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 6",
		`{"key":"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 7",
		`{"key":"0000000000000000000000000000000000000000000000000000000000000080", "message":"646573796e63746f6f6c", "signature":"5252cc0a7f208133b620acbd4537eba2a4123bf0a8c2e4f980c3b31bb69765ea0100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 8",
		`{"key":"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", "message":"646573796e63746f6f6c", "signature":"0922dd887fef4d75ef2f2230ca285ebbde9d66341c945794ce6ad10f5d6be8910200000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 9",
		`{"key":"0100000000000000000000000000000000000000000000000000000000000080", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 10",
		`{"key":"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 11",
		`{"key":"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "message":"646573796e63746f6f6c", "signature":"e4dd22778010b28a10d0ddcf35d7a144216299cbe36ba86b31952ef0a294176e0200000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 12",
		`{"key":"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "message":"646573796e63746f6f6c", "signature":"95999999999999999999999999999999999999999999999999999999999999990100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 13",
		`{"key":"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "key of small order, 14",
		`{"key":"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "message":"646573796e63746f6f6c", "signature":"58666666666666666666666666666666666666666666666666666666666666660100000000000000000000000000000000000000000000000000000000000000"}`},
	{"signatures", "", "", "R of small order, 1",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2030", "signature":"0100000000000000000000000000000000000000000000000000000000000000999f538d7ae5fec2f1d88ad9d3230ce9cdd7a4fd39a4b321c5f70f4ce3a6ea04"}`},
	{"signatures", "", "", "R of small order, 2",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2037", "signature":"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc054bfccae367e6c2e7f00150e9e0883c50318cea7730774d975ba595722655f501"}`},
	{"signatures", "", "", "R of small order, 3",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2038", "signature":"00000000000000000000000000000000000000000000000000000000000000000bce2058ddfcf434f9e72409c07e277cf3a5c8cb868efc971fc3cfc5165f4903"}`},
	{"signatures", "", "", "R of small order, 4",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2031", "signature":"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a088c1240781a9367f8f21255ff82c1e80f0bb0658d8488bdfc5cf418ff9d480c"}`},
	{"signatures", "", "", "R of small order, 5",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2031", "signature":"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7fb7aac84c55e32a897964f814a6a1aa15de480801f49dca118e2da84f1a5df60c"}`},
	{"signatures", "", "", "R of small order, 6",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2032", "signature":"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa13fb27431f81643ddf0139aed4c13b993625f2e4f75bbd89630c77cbc7d4540e"}`},
	{"signatures", "", "", "R of small order, 7",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c203134", "signature":"0000000000000000000000000000000000000000000000000000000000000080c62246a93a0f120045231c350e5f7f5b437d13f56b4f523ffb7ca8df8600250e"}`},
	{"signatures", "", "", "R of small order, 8",
		`{"key":"b154bd62188ae283dd187fefe8c31f5e276edf083b4cff11c9d5cff856c74440", "message":"646573796e63746f6f6c2036", "signature":"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc853795e058d76c26af329a381948d7f751d581fbbbbd3b4f221b1b2e4d975f8e0d"}`},

	{"names", "Names of files. In: what it is, seed and tick. Out: the name.", "snapshot.md#names", "snapshot", `{"file":"snapshot", "seed":7, "tick":1242}`},
	{"names", "", "", "snapshot with the largest numbers", `{"file":"snapshot", "seed":{"u64":"18446744073709551615"}, "tick":{"u64":"18446744073709551615"}}`},
	{"names", "", "", "peer's report", `{"file":"report", "seed":7, "tick":20}`},

	{"files", "Whole files. In: the text twin where there is one, line by line. Out: the bytes.", "orderlog.md#text-twin", "order log, of the first header, a tick without orders, one with orders, hashes",
		`{"order log":["header", "tick without orders", "tick with orders: the second one is local", "hashes"]}`},
	{"files", "", "", "order log that ends with its header", `{"order log":["header of which little is known"]}`},
	{"files", "", "", "trace", `{"trace":["header", "names: 1 to 4", "checkpoints", "event save", "event restore", "event resimulate", "event input"]}`},
	{"files", "", "", "snapshot", `{"snapshot":{"seed":7, "tick":1242, "peer":"host", "rng":"0123456789abcdef", "label":"Infantry", "keys":["3", "8"], "columns":[
		{"component":"Health", "field":"hp", "type":"i32", "values":["75", null]}, {"component":"Position", "field":"x", "type":"fixed", "scale":65536, "values":["98304/65536", "-16384/65536"]}]}}`},
	{"files", "", "", "peer's report: the world of Infantry is a snapshot of the one archetype", `{"report":{"peer":"host", "player":0, "rng":"01020304", "tick":20, "keys":["3", "4"], "values":["75", "50"]}}`},
}

// compute returns what comes out, by the naive implementation.
func compute(t *testing.T, name string, in any) any {
	t.Helper()
	switch name {
	case "msgpack":
		return hexOf(pack(in))
	case "crc32c":
		sum := crc32c(unhex(in.(string)))
		var stored buf
		stored.little(uint64(sum), 4)
		return object{"checksum": fmt.Sprintf("%08x", sum), "stored": hexOf(stored)}
	case "framing":
		in := in.(object)
		switch {
		case in["preamble"] != nil:
			return hexOf(preamble(in["preamble"].(string)))
		case in["end"] != nil:
			return hexOf(endMarker(int(num(in["end"]))))
		}
		return hexOf(frame(uint32(num(in["kind"])), unhex(in["payload"].(string))))
	case "blocks":
		a, b, _ := strings.Cut(in.(string), ":")
		x, _ := strconv.ParseUint(a, 10, 64)
		y, _ := strconv.ParseUint(b, 10, 64)
		h := cutHash(x, y)
		return object{"cut": fmt.Sprintf("%016x", h), "begins": h%4096 == 0}
	case "keys":
		keys := in.([]any)
		if len(keys) == 0 {
			return object{"keys_digest_one_part": hexOf(keysDigest(1)), "keys_digest_two_parts": hexOf(keysDigest(2))}
		}
		b, parts := keysBlock(keys)
		return object{"block": hexOf(b), "digest": hexOf(sha(b)), "keys_digest": hexOf(keysDigest(parts, sha(b)))}
	case "values":
		c := columnOf(in.(object))
		if len(c.values) == 0 {
			return object{"column_digest": hexOf(columnDigest(c.component, c.field, c.typ, c.scale))}
		}
		b := valueBlock(c.typ, c.values)
		return object{"block": hexOf(b), "digest": hexOf(sha(b)), "column_digest": hexOf(columnDigest(c.component, c.field, c.typ, c.scale, sha(b)))}
	case "leaves":
		in := in.(object)
		var b buf
		if rng, ok := in["rng"]; ok {
			b = rngPreimage(unhex(rng.(string)))
		} else {
			var digests [][]byte
			for _, d := range in["digests"].([]any) {
				digests = append(digests, unhex(d.(string)))
			}
			b = leafPreimage(in["label"].(string), num(in["rows"]), digests...)
		}
		return object{"hashed": hexOf(b), "leaf": hexOf(sha(b))}
	case "trees":
		leaves := leavesOf(in.([]any))
		root := rootOf(leaves)
		var nodes, short []any
		nodes, short = []any{}, []any{}
		proofs := []any{}
		if len(leaves) > 0 {
			for _, level := range levels(leaves) {
				nodes = append(nodes, hexes(level))
				var cut []any
				for _, n := range level {
					cut = append(cut, hexOf(n[:8]))
				}
				short = append(short, cut)
			}
			for i := range leaves {
				proofs = append(proofs, hexes(proofOf(leaves, i)))
			}
		}
		return object{"levels": nodes, "truncated": short, "root": hexOf(root), "sync": hexOf(root[:8]), "sync_number": fmt.Sprint(binary.LittleEndian.Uint64(root)), "proofs": proofs}
	case "history":
		in := in.(object)
		h := sha(unhex(in["start"].(string)))
		out := []any{hexOf(h)}
		for _, s := range in["sync"].([]any) {
			h = sha(h, unhex(s.(string)))
			out = append(out, hexOf(h))
		}
		return out
	case "orderlog":
		in := in.(object)
		out := object{"payload": hexOf(pack(in["value"]))}
		if in["record"] == "tick" {
			out["input_hash"] = hexOf(inputHash(parsed(inputOf("orderlog", "header")).(object)["value"].([]any)[7].([]any), in["value"].([]any)))
		}
		return out
	case "trace":
		return hexOf(pack(in.(object)["value"]))
	case "names":
		in := in.(object)
		n := func(v any) uint64 {
			if big, ok := v.(object); ok {
				v = json.Number(big["u64"].(string))
			}
			return num(v)
		}
		if in["file"] == "report" {
			return fmt.Sprintf("desync_report_%016x_%010d.json", n(in["seed"]), n(in["tick"]))
		}
		return fmt.Sprintf("desync_%016x_%010d.snap", n(in["seed"]), n(in["tick"]))
	case "signatures":
		return chainOut(in.(object))
	case "files":
		return wholeFile(in.(object))
	}
	t.Fatalf("no vectors of %s", name)
	return nil
}

// inputOf returns the input of a vector by its name.
func inputOf(file, name string) string {
	for _, x := range inputs {
		if x.file == file && x.name == name {
			return x.in
		}
	}
	panic("no vector " + file + ": " + name)
}

// leavesOf are hashes of one byte each.
func leavesOf(list []any) (leaves [][]byte) {
	for _, n := range list {
		leaves = append(leaves, sha([]byte{byte(num(n))}))
	}
	return leaves
}

func columnOf(in object) column {
	c := column{component: in["component"].(string), field: in["field"].(string), typ: in["type"].(string), values: in["values"].([]any)}
	if in["scale"] != nil {
		c.scale = num(in["scale"])
	}
	return c
}

// wholeFile puts a file together.
func wholeFile(in object) any {
	for _, what := range []string{"order log", "trace"} {
		list, ok := in[what].([]any)
		if !ok {
			continue
		}
		b := preamble(what)
		for _, name := range list {
			x := parsed(inputOf(map[string]string{"order log": "orderlog", "trace": "trace"}[what], name.(string))).(object)
			kind := map[any]uint32{"header": 1, "tick": 2, "observed": 3}[x["record"]]
			if what == "trace" {
				kind = uint32(num(x["frame"]))
			}
			b.add(frame(kind, pack(x["value"])))
		}
		b.add(endMarker(len(list)))
		return hexOf(b)
	}
	if s, ok := in["snapshot"].(object); ok {
		var columns []column
		for _, c := range s["columns"].([]any) {
			columns = append(columns, columnOf(c.(object)))
		}
		return hexOf(snapFile(num(s["seed"]), num(s["tick"]), s["peer"].(string), unhex(s["rng"].(string)), s["label"].(string), s["keys"].([]any), columns))
	}
	r := in["report"].(object)
	rng := unhex(r["rng"].(string))
	hp := column{"Health", "hp", "u8", 0, r["values"].([]any)}
	keys := r["keys"].([]any)
	keyCell, parts := keysBlock(keys)
	leaf := sha(leafPreimage("Infantry", uint64(len(keys)), keysDigest(parts, sha(keyCell)), columnDigest("Health", "hp", "u8", 0, sha(valueBlock("u8", hp.values)))))
	player := sha([]byte("any other archetype"))
	rngLeaf := sha(rngPreimage(rng))
	world := snapFile(7, num(r["tick"]), r["peer"].(string), rng, "Infantry", keys, []column{hp})
	return object{
		"schema": "desynctool.peer-report/1", "status": "diverged", "warnings": []any{}, "seed": "0000000000000007", "player": r["player"], "peer": r["peer"],
		"tick": r["tick"], "phase": "", "native": object{"state": "frame 20"}, "state_hash": hexOf(rootOf([][]byte{rngLeaf, leaf, player})), "rng_state": r["rng"],
		"merkle_nodes":        []any{[]any{"", hexOf(rngLeaf)}, []any{"Infantry", hexOf(leaf)}, []any{"Player", hexOf(player)}},
		"diverged_archetypes": []any{object{"label": "Infantry", "world": base64.StdEncoding.EncodeToString(world)}},
		"order_log_window":    object{"from": json.Number("10"), "to": json.Number("19")},
		"order_log_excerpt": []any{object{"tick": json.Number("12"), "sub_tick_time": json.Number("0"), "player": json.Number("1"), "sequence": json.Number("5"), "kind": "move", "payload": "92cd1b"},
			object{"tick": json.Number("14"), "player": json.Number("0"), "kind": "chat", "local": true}},
	}
}

// computed are all vectors.
func computed(t *testing.T) (names []string, all map[string]*file) {
	t.Helper()
	all = map[string]*file{}
	for _, x := range inputs {
		f := all[x.file]
		if f == nil {
			f = &file{About: x.about, Page: "docs/" + x.page}
			all[x.file] = f
			names = append(names, x.file)
		}
		in := parsed(x.in)
		f.Vectors = append(f.Vectors, vector{x.name, in, compute(t, x.file, in)})
	}
	return names, all
}

// TestVectors compares the files with the naive implementation.
func TestVectors(t *testing.T) {
	names, all := computed(t)
	for _, name := range names {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(all[name]); err != nil {
			t.Fatal(err)
		}
		pinned.File(t, name+".json", out.Bytes())
	}
	found, err := filepath.Glob("*.json")
	if err != nil || len(found) != len(names) {
		t.Errorf("the files %v, the vectors %v, %v", found, names, err)
	}
}

// vectorsOf reads a file of vectors.
func vectorsOf(t *testing.T, name string) []vector {
	t.Helper()
	b, err := os.ReadFile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&f); err != nil || len(f.Vectors) == 0 {
		t.Fatalf("%s: %d vectors, %v", name, len(f.Vectors), err)
	}
	return f.Vectors
}

// memory is a file in memory that can be written at any place.
type memory struct {
	b  []byte
	at int
}

func (m *memory) Write(p []byte) (int, error) {
	if n := m.at + len(p); n > len(m.b) {
		m.b = append(m.b, make([]byte, n-len(m.b))...)
	}
	m.at += copy(m.b[m.at:], p)
	return len(p), nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	m.at = int(offset) + []int{0, m.at, len(m.b)}[whence]
	return int64(m.at), nil
}

// state writes a text twin as a .snap and opens it.
func state(t *testing.T, text string) *snapshot.File {
	t.Helper()
	var m memory
	if err := snapshot.ReadText(&m, strings.NewReader(text), "text", snapshot.WriteOptions{Plain: true}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := snapshot.Open(bytes.NewReader(m.b), int64(len(m.b)), "text")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCode holds desynctool's own code against the vectors.
func TestCode(t *testing.T) {
	for _, v := range vectorsOf(t, "values") {
		in, out := v.In.(object), v.Out.(object)
		typ := in["type"].(string)
		if typ == "fixed" {
			typ += " " + string(in["scale"].(json.Number))
		}
		text := fmt.Sprintf("%%desynctool snapshot 1\n%%seed 1\n%%tick 1\n%%table archetype \"A\" 1\n%%column %q %q %s\n", in["component"], in["field"], typ)
		for i, value := range in["values"].([]any) {
			shown := "absent"
			if value != nil {
				switch shown = value.(string); {
				case typ == "string":
					shown = strconv.Quote(shown)
				case typ == "scalar" && shown[0] == '"':
					shown = strconv.Quote(shown[1:])
				case typ == "scalar" && shown[0] == 'x':
					shown = fmt.Sprintf("0x%x", shown[1:])
				}
			}
			text += fmt.Sprintf("A[%d].%s.%s = %s\n", i, in["component"], in["field"], shown)
		}
		x, err := state(t, text).Index(0)
		if err != nil {
			t.Fatal(err)
		}
		c := &x.Columns[0]
		if c.Digest.String() != out["column_digest"] || len(c.Blocks) > 0 && c.Blocks[0].String() != out["digest"] {
			t.Errorf("values, %s: column digest %s of blocks %s, expected %v", v.Name, c.Digest, c.Blocks, out)
		}
	}
	for _, v := range vectorsOf(t, "keys") {
		keys, out := v.In.([]any), v.Out.(object)
		if len(keys) == 0 {
			for parts, want := range []any{out["keys_digest_one_part"], out["keys_digest_two_parts"]} {
				x, err := state(t, fmt.Sprintf("%%desynctool snapshot 1\n%%seed 1\n%%tick 1\n%%table archetype \"A\" %d\n", parts+1)).Index(0)
				if err != nil || x.KeysDigest.String() != want {
					t.Errorf("keys, %s: %v", v.Name, err)
				}
			}
			continue
		}
		text := fmt.Sprintf("%%desynctool snapshot 1\n%%seed 1\n%%tick 1\n%%table archetype \"A\" %d\n", 1+strings.Count(keys[0].(string), ":"))
		for _, k := range keys {
			text += fmt.Sprintf("A[%s]\n", k)
		}
		x, err := state(t, text).Index(0)
		if err != nil {
			t.Fatal(err)
		}
		if x.KeysDigest.String() != out["keys_digest"] || x.Blocks[0].Keys.String() != out["digest"] {
			t.Errorf("keys, %s: %s of %s, expected %v", v.Name, x.KeysDigest, x.Blocks[0].Keys, out)
		}
	}
	for _, v := range vectorsOf(t, "blocks") {
		key, err := snapshot.ParseKey(v.In.(string))
		if err != nil {
			t.Fatal(err)
		}
		keys := snapshot.Keys{A: []uint64{0, key.A}}
		if key.Two {
			keys.B = []uint64{0, key.B}
		}
		if begins := len(snapshot.BlockStarts(nil, keys)) == 2; begins != v.Out.(object)["begins"] {
			t.Errorf("blocks, %s: begins is %v", v.Name, begins)
		}
	}
	for _, v := range vectorsOf(t, "leaves") {
		in := v.In.(object)
		var leaf merkle.Hash
		if rng, ok := in["rng"].(string); ok {
			leaf = merkle.RNGLeaf(unhex(rng))
		} else {
			var digests []merkle.Hash
			for _, d := range in["digests"].([]any) {
				digests = append(digests, merkle.Hash(unhex(d.(string))))
			}
			leaf = merkle.ArchetypeLeaf(in["label"].(string), num(in["rows"]), digests)
		}
		if leaf.String() != v.Out.(object)["leaf"] {
			t.Errorf("leaves, %s: %s", v.Name, leaf)
		}
	}
	for _, v := range vectorsOf(t, "trees") {
		out := v.Out.(object)
		var leaves []merkle.Leaf
		for i, b := range leavesOf(v.In.([]any)) {
			leaves = append(leaves, merkle.Leaf{Label: string(rune('a' + i)), Hash: merkle.Hash(b)})
		}
		tree, err := merkle.New(leaves)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Root().String() != out["root"] || tree.SyncHash().String() != out["sync"] || fmt.Sprint(tree.SyncHash().Uint64()) != out["sync_number"] {
			t.Errorf("trees, %s: root %s", v.Name, tree.Root())
		}
		for i := range leaves {
			got := []any{}
			for _, h := range tree.Prove(i).Siblings {
				got = append(got, h.String())
			}
			if !reflect.DeepEqual(got, out["proofs"].([]any)[i]) {
				t.Errorf("trees, %s: proof of leaf %d is %v", v.Name, i, got)
			}
		}
	}
	for _, v := range vectorsOf(t, "history") {
		in, out := v.In.(object), v.Out.([]any)
		h := merkle.StartHistory(merkle.Hash(unhex(in["start"].(string))))
		for i, s := range in["sync"].([]any) {
			if h.String() != out[i] {
				t.Errorf("history, point %d: %s", i, h)
			}
			h = merkle.NextHistory(h, merkle.Short(unhex(s.(string))))
		}
	}
	for _, v := range vectorsOf(t, "names") {
		in := v.In.(object)
		n := func(v any) uint64 {
			if big, ok := v.(object); ok {
				v = json.Number(big["u64"].(string))
			}
			return num(v)
		}
		name := snapshot.Name
		if in["file"] == "report" {
			name = peers.FileName
		}
		if got := name(n(in["seed"]), n(in["tick"])); got != v.Out {
			t.Errorf("names, %s: %s", v.Name, got)
		}
	}
	records(t)
	wholeFiles(t)
	chains(t)
}

// chains has chains written as the vectors have them, and their breaks found.
func chains(t *testing.T) {
	t.Helper()
	breaks := map[any]bool{}
	for _, v := range vectorsOf(t, "signatures") {
		in, out := v.In.(object), v.Out.(object)
		if text, ok := in["key"].(string); ok {
			small := strings.HasPrefix(v.Name, "key")
			if _, err := signatures.ParseKey(text); (err != nil) != small {
				t.Errorf("signatures, %s: %v", v.Name, err)
			}
			key, signature := signatures.Key(unhex(text)), signatures.Signature(unhex(in["signature"].(string)))
			if !small && !signatures.Key(signature[:32]).SmallOrder() || key.Verify(unhex(in["message"].(string)), signature) || out["without_the_rule"] != true {
				t.Errorf("signatures, %s: %v", v.Name, out)
			}
			continue
		}
		key := ed25519.NewKeyFromSeed(unhex(in["secret"].(string)))
		if want, ok := out["key"]; ok && signatures.Public(key).String() != want {
			t.Errorf("signatures, %s: key %s", v.Name, signatures.Public(key))
		}
		if out["file"] == nil {
			continue
		}
		b := unhex(out["file"].(string))
		r, err := signatures.NewReader(bytes.NewReader(b), "f")
		if err != nil {
			t.Fatal(err)
		}
		header := *r.Header()
		var entries []signatures.Entry
		chain, err := signatures.Verify(r, signatures.Options{Each: func(e *signatures.Entry, bound bool) { entries = append(entries, *e) }})
		if err != nil {
			t.Errorf("signatures, %s: %v", v.Name, err)
			continue
		}
		if want, ok := out["first_break"].(object); ok {
			breaks[want["what"]] = true
			if len(chain.Breaks) == 0 {
				t.Errorf("signatures, %s: no break found", v.Name)
			} else if got := chain.Breaks[0]; got.Kind.String() != want["what"] || fmt.Sprint(got.Entry) != string(want["entry"].(json.Number)) {
				t.Errorf("signatures, %s: %s, expected %v", v.Name, &got, want)
			}
			continue
		}
		if !chain.Holds() || chain.Closed != in["end"] || header.Genesis().String() != out["genesis"] {
			t.Errorf("signatures, %s: %+v, genesis %s", v.Name, chain, header.Genesis())
		}
		var again bytes.Buffer
		w, err := signatures.NewWriter(&again, header, key, signatures.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range entries {
			want := out["entries"].([]any)[i].(object)
			if hexOf(e.AppendMessage(nil)) != want["message"] || hexOf(e.Append(nil)) != want["payload"] || e.Link().String() != want["link"] {
				t.Errorf("signatures, %s: entry %d is %+v", v.Name, i, e)
			}
			if err := w.Sign(e.Tick, e.State); err != nil {
				t.Fatal(err)
			}
		}
		if chain.Closed {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if chain.Closed {
			checkFile(t, t.TempDir(), signatures.Name, b)
		}
		if !bytes.Equal(again.Bytes(), b) {
			t.Errorf("signatures, %s: written again it has other bytes", v.Name)
		}
	}
	for k := signatures.Tampered; !strings.HasPrefix(k.String(), "break kind"); k++ {
		if !breaks[k.String()] {
			t.Errorf("no vector breaks a chain so that it is %s", k)
		}
	}
}

// records has the readers read each record by itself.
func records(t *testing.T) {
	t.Helper()
	header := ""
	for _, v := range vectorsOf(t, "orderlog") {
		in, out := v.In.(object), v.Out.(object)
		b := preamble("order log")
		kind := map[any]uint32{"header": 1, "tick": 2, "observed": 3}[in["record"]]
		frames := 1
		if kind == 1 {
			b.add(frame(1, unhex(out["payload"].(string))))
			if header == "" {
				header = out["payload"].(string)
			}
		} else {
			b.add(frame(1, unhex(header)), frame(kind, unhex(out["payload"].(string))))
			frames = 2
		}
		b.add(endMarker(frames))
		text, again := logTwin(t, b)
		if !bytes.Equal(again, b) {
			t.Errorf("orderlog, %s: written again it has other bytes\n%s", v.Name, text)
		}
		if in["record"] != "tick" {
			continue
		}
		r, err := orderlog.NewReader(bytes.NewReader(b), "f")
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := orderlog.InputHash(r.Header().Kinds, rec.Tick.Orders).String(); got != out["input_hash"] {
			t.Errorf("orderlog, %s: input hash %s, expected %s", v.Name, got, out["input_hash"])
		}
	}
}

func logTwin(t *testing.T, b []byte) (text string, again []byte) {
	t.Helper()
	r, err := orderlog.NewReader(bytes.NewReader(b), "f")
	if err != nil {
		t.Fatal(err)
	}
	var out, back bytes.Buffer
	if err := orderlog.WriteText(&out, r); err != nil {
		t.Fatal(err)
	}
	if err := orderlog.ParseText(&back, bytes.NewReader(out.Bytes()), "f"); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String(), back.Bytes()
}

// wholeFiles has the readers read each file, write it again as the same bytes, and check find nothing
// wrong.
func wholeFiles(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, v := range vectorsOf(t, "files") {
		in := v.In.(object)
		if in["report"] != nil {
			b, err := json.Marshal(v.Out)
			if err != nil {
				t.Fatal(err)
			}
			r, err := peers.Read(bytes.NewReader(b), "report")
			if err != nil || len(r.Contradictions()) > 0 {
				t.Errorf("files, %s: %v, %v", v.Name, err, r)
			}
			checkFile(t, dir, "desync_report_0000000000000007_0000000020.json", b)
			for _, f := range reflect.VisibleFields(reflect.TypeFor[peers.Report]()) {
				key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if _, has := v.Out.(object)[key]; key != "" && key != "redacted" && !has {
					t.Errorf("files, %s: no %s", v.Name, key)
				}
			}
			continue
		}
		b := unhex(v.Out.(string))
		if len(b) > 4096 {
			t.Errorf("files, %s: %d bytes", v.Name, len(b))
		}
		var again []byte
		switch {
		case in["order log"] != nil:
			_, again = logTwin(t, b)
			checkFile(t, dir, "order-log.bin", b)
		case in["trace"] != nil:
			r, err := tracediff.NewReader(bytes.NewReader(b), "f", tracediff.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var out, back bytes.Buffer
			if err := tracediff.WriteText(&out, r); err != nil {
				t.Fatal(err)
			}
			if err := tracediff.ParseText(&back, &out, "f"); err != nil {
				t.Fatal(err)
			}
			again = back.Bytes()
			checkFile(t, dir, "a.trace", b)
		default:
			f, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), "f")
			if err != nil {
				t.Fatal(err)
			}
			if err := snapshot.Check(f); err != nil {
				t.Error(err)
			}
			var out bytes.Buffer
			if err := snapshot.WriteText(&out, f); err != nil {
				t.Fatal(err)
			}
			var m memory
			if err := snapshot.ReadText(&m, &out, "f", snapshot.WriteOptions{Plain: true}); err != nil {
				t.Fatal(err)
			}
			again = m.b
			checkFile(t, dir, "desync_0000000000000007_0000001242.snap", b)
		}
		if !bytes.Equal(again, b) {
			t.Errorf("files, %s: written again it has other bytes", v.Name)
		}
	}
}

// checkFile has conform check a file.
func checkFile(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := check.Check(files.Disk, []string{path}, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result[0].Findings {
		if f.Rule.Level == check.Error {
			t.Errorf("%s: %s: %s", name, f.Rule.ID, f.Text)
		}
	}
}

// TestEveryKind: each kind of record, marker, event, frame and column has a vector.
func TestEveryKind(t *testing.T) {
	has := map[string]bool{}
	for _, v := range vectorsOf(t, "orderlog") {
		in := v.In.(object)
		has["record "+in["record"].(string)] = true
		if in["record"] == "tick" {
			for _, m := range in["value"].([]any)[4].([]any) {
				has["marker "+string(m.([]any)[0].(json.Number))] = true
			}
		}
	}
	for _, v := range vectorsOf(t, "trace") {
		in := v.In.(object)
		kind := string(in["frame"].(json.Number))
		has["frame "+kind] = true
		if kind == "4" {
			has["event "+string(in["value"].([]any)[0].(json.Number))] = true
		}
	}
	for _, v := range vectorsOf(t, "values") {
		has["type "+v.In.(object)["type"].(string)] = true
	}
	var want []string
	for k := orderlog.HeaderRecord; !strings.HasPrefix(k.String(), "record kind"); k++ {
		want = append(want, "record "+k.String())
	}
	for k := orderlog.Join; !strings.HasPrefix(k.String(), "marker kind"); k++ {
		want = append(want, fmt.Sprint("marker ", uint8(k)))
	}
	for k := tracediff.Save; !strings.HasPrefix(k.String(), "event kind"); k++ {
		want = append(want, fmt.Sprint("event ", uint8(k)))
	}
	for typ := snapshot.Bool; typ.Valid(); typ++ {
		want = append(want, "type "+typ.String())
	}
	page, err := os.ReadFile(filepath.Join("..", "trace.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, binaryPart, _ := strings.Cut(string(page), "\n## Binary\n")
	frames := regexp.MustCompile(`(?m)^\| (\d) \| `).FindAllStringSubmatch(binaryPart, -1)
	if len(frames) < 4 {
		t.Errorf("docs/trace.md has %d kinds of frames", len(frames))
	}
	for _, m := range frames {
		want = append(want, "frame "+m[1])
	}
	for _, what := range want {
		if !has[what] {
			t.Errorf("no vector has %s", what)
		}
	}
	if len(want) < 3+8+4+15+4 || slices.Contains(want, "") {
		t.Errorf("only %v", want)
	}
}
