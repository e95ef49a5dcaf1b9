package sdk_test

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// What is found in a file of signatures, by the numbers that all SDKs have for it.
const (
	otherKey = iota + 1
	corruptHere
	tampered
	missing
	contradiction
	skippedTicks
	missingAtEnd
	openEnd
)

var (
	chainFormat = frame.Format{Name: "tick signatures", Magic: "\x89TSIGS\r\n", Version: 1, MaxPayload: 1 << 20}
	chainSecret = ed25519.NewKeyFromSeed([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"))
	otherSecret = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{0xa5}, 32))
)

const chainDomain = "desynctool tick-signatures 1 "

// A chain is a file of signatures as frames: the header, entries, and an end.
type chain struct {
	seed   uint64
	peer   string
	start  [32]byte
	secret ed25519.PrivateKey
	frames []chainFrame
	link   [32]byte
	tick   uint64
	count  uint64
}

type chainFrame struct {
	kind    uint32
	payload []byte
}

func newChain(seed uint64, peer string, start [32]byte, secret ed25519.PrivateKey) *chain {
	c := &chain{seed: seed, peer: peer, start: start, secret: secret}
	var header bytes.Buffer
	e := msgpack.NewEncoder(&header)
	e.UseCompactInts(true)
	for _, v := range []any{"seed", seed, "peer", peer, "key", c.key(), "start", start[:]} {
		if header.Len() == 0 {
			_ = e.EncodeMapLen(4)
		}
		_ = e.Encode(v)
	}
	c.add(1, header.Bytes())
	c.link = chainGenesis(seed, c.key(), start[:], peer)
	return c
}

func chainGenesis(seed uint64, key, start []byte, peer string) [32]byte {
	b := binary.LittleEndian.AppendUint64([]byte(chainDomain+"genesis\n"), seed)
	b = append(append(b, key...), start...)
	return sha256.Sum256(append(binary.LittleEndian.AppendUint32(b, uint32(len(peer))), peer...))
}

func chainLink(entry []byte) [32]byte {
	return sha256.Sum256(append([]byte(chainDomain+"link\n"), entry...))
}

func (c *chain) key() []byte { return c.secret.Public().(ed25519.PublicKey) }

func (c *chain) add(kind uint32, payload []byte) {
	c.frames = append(c.frames, chainFrame{kind, payload})
}

// sign appends the content of a frame, and its signature.
func (c *chain) sign(kind uint32, what string, body []byte) {
	c.add(kind, append(body, ed25519.Sign(c.secret, append([]byte(chainDomain+what+"\n"), body...))...))
}

// stateAt is the state hash that the chains of these tests have for a tick.
func stateAt(tick uint64) [32]byte { return sha256.Sum256(fmt.Append(nil, "state ", tick)) }

// entry appends an entry with the number of ticks that were skipped.
func (c *chain) entry(tick, skipped uint64) {
	state := stateAt(tick)
	body := binary.LittleEndian.AppendUint64(bytes.Clone(c.link[:]), skipped)
	c.sign(2, "entry", append(binary.LittleEndian.AppendUint64(body, tick), state[:]...))
	c.link, c.tick = chainLink(c.frames[len(c.frames)-1].payload), tick
	c.count++
}

func (c *chain) append(ticks ...uint64) *chain {
	for _, tick := range ticks {
		skipped := uint64(0)
		if c.count > 0 {
			skipped = tick - c.tick - 1
		}
		c.entry(tick, skipped)
	}
	return c
}

func (c *chain) end() *chain {
	c.sign(3, "end", binary.LittleEndian.AppendUint64(bytes.Clone(c.link[:]), c.count))
	return c
}

// bytes returns the file, with checksums that are right; closed with the framing's end marker.
func (c *chain) bytes(closed bool) []byte {
	var b bytes.Buffer
	w, err := frame.NewWriter(&b, chainFormat, frame.WriterOptions{})
	if err != nil {
		panic(err)
	}
	for _, f := range c.frames {
		if err := w.WriteFrame(f.kind, f.payload); err != nil {
			panic(err)
		}
	}
	if closed {
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// judged reads a file of signatures and returns what SDKs have to report on it, in the words of testdata/signatures.py.
func judged(file, trusted []byte, asked uint64) string {
	r, err := frame.NewReader(bytes.NewReader(file), "", chainFormat)
	if err != nil {
		return "refused"
	}
	kind, payload, err := r.Next()
	var header struct {
		Seed  uint64 `msgpack:"seed"`
		Peer  string `msgpack:"peer"`
		Key   []byte `msgpack:"key"`
		Start []byte `msgpack:"start"`
	}
	if err != nil || kind != 1 || msgpack.Unmarshal(payload, &header) != nil || len(header.Key) != 32 || len(header.Start) != 32 {
		return "refused"
	}
	var (
		link           = chainGenesis(header.Seed, header.Key, header.Start, header.Peer)
		believed       = trusted == nil || bytes.Equal(trusted, header.Key)
		unbroken       = true
		afterTampered  bool
		ended, closed  bool
		entries, bound uint64
		before         = "-"
		last           uint64
		state          = "-"
		found          []string
	)
	find := func(kind int, offset int64, tick string) {
		found = append(found, fmt.Sprintf("%d@%d#%d:%s:%s", kind, offset, entries, before, tick))
	}
	if !believed {
		find(otherKey, 16, "-")
	}
	for {
		kind, payload, err := r.Next()
		offset := r.Offset()
		var bad *frame.Error
		switch {
		case errors.As(err, &bad) && errors.Is(err, frame.ErrCorrupt):
			offset = bad.Offset
		case err != nil: // the end, or torn
		case ended || kind != 2 && kind != 3 || len(payload) != map[uint32]int{2: 144, 3: 104}[kind]:
			bad = &frame.Error{Err: frame.ErrCorrupt}
		default:
			body, signature := payload[:len(payload)-64], payload[len(payload)-64:]
			what, count := "entry\n", binary.LittleEndian.Uint64(payload[32:])
			if kind == 3 {
				what = "end\n"
			}
			valid := ed25519.Verify(header.Key, append([]byte(chainDomain+what), body...), signature)
			linked := bytes.Equal(payload[:32], link[:])
			if kind == 3 {
				ended = true
				switch {
				case !valid:
					find(tampered, offset, "-")
				case !linked && !(afterTampered && count == entries):
					find(missingAtEnd, offset, "-")
				case count != entries && unbroken:
					find(contradiction, offset, "-")
				default:
					closed = true
				}
				continue
			}
			tick := binary.LittleEndian.Uint64(payload[40:])
			now := fmt.Sprint(tick)
			switch {
			case !valid:
				unbroken = false
				find(tampered, offset, now)
			case afterTampered: // what it followed is not known
			case !linked:
				unbroken = false
				find(missing, offset, now)
			case entries == 0 && count > 0, entries > 0 && (tick <= last || count != tick-last-1):
				unbroken = false
				find(contradiction, offset, now)
			case count > 0:
				find(skippedTicks, offset, now)
			}
			if unbroken && believed {
				bound++
				if tick == asked {
					state = hex.EncodeToString(payload[48:80])
				}
			}
			entries++
			afterTampered = !valid
			before, last, link = now, tick, chainLink(payload)
			continue
		}
		if bad != nil && errors.Is(bad, frame.ErrCorrupt) {
			before = "-"
			find(corruptHere, offset, "-")
		} else if !ended {
			find(openEnd, offset, "-")
		}
		break
	}
	total := len(found)
	found = found[:min(total, 1000)]
	wholly := total <= 1000
	for _, f := range found {
		wholly = wholly && (f[0] == '0'+skippedTicks || f[0] == '0'+openEnd)
	}
	flags := map[bool]int{true: 1}
	peer := hex.EncodeToString([]byte(header.Peer))
	if peer == "" {
		peer = "-"
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %s %x %x %d %d %d %d %d %s %s", header.Seed, peer, header.Key, header.Start, entries, bound,
		flags[closed], flags[wholly], total, state, strings.Join(found, " ")), " ")
}

// A signer is a program that answers as testdata/signatures.py describes.
type signer []string

// asks gives records to a program and returns a line for each.
func (s signer) asks(t *testing.T, mode string, records ...[]byte) []string {
	t.Helper()
	var stdin bytes.Buffer
	for _, r := range records {
		stdin.Write(frameOf(r))
	}
	stdout, stderr, exit := execute(t, stdin.Bytes(), s[0], append(slices.Clone(s[1:]), mode)...)
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(stdout, "\r\n", "\n"), "\n"), "\n")
	if exit != 0 || stderr != "" || mode != "words" && len(lines) != len(records) {
		t.Fatalf("%s: exit status %d, %d lines for %d records: %s", mode, exit, len(lines), len(records), stderr)
	}
	return lines
}

// begins is the line that begins a chain in the program's folder.
func (s signer) begins(seed uint64, peer string, start [32]byte, how string) string {
	name := hex.EncodeToString([]byte(peer))
	if name == "" {
		name = "-"
	}
	return fmt.Sprintf("%d %s %x %x %s\n", seed, name, start, chainSecret.Seed(), how)
}

// writes has a program write a chain and returns its bytes.
func (s signer) writes(t *testing.T, lines string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tick-signatures.bin")
	stdout, stderr, exit := execute(t, []byte(lines), s[0], append(slices.Clone(s[1:]), "write", path)...)
	if exit != 0 || stderr != "" {
		t.Fatalf("write: exit status %d: %s%s", exit, stdout, stderr)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// signs is all that is tried of an SDK's signatures.
func (s signer) signs(t *testing.T) {
	t.Run("RFC 8032", s.signsRFC8032)
	t.Run("strict", s.isStrict)
	t.Run("bytes", s.writesTheBytes)
	t.Run("vectors", s.agreesWithVectors)
	t.Run("forged", s.namesForgeries)
	t.Run("mutants", s.judgesMutants)
	t.Run("killed", s.losesNothing)
	t.Run("words", func(t *testing.T) {
		if got := s.asks(t, "words"); !slices.Equal(got, findingWords) {
			t.Errorf("it says\n%s", strings.Join(got, "\n"))
		}
	})
}

var findingWords = []string{
	"the key is not the one that is trusted",
	"the file is damaged here: nothing after it is read",
	"the signature is not valid and the checksum is right: somebody changed this, or made it without the key",
	"entries before this one are missing or were moved, or it is from another chain of the key",
	"the signer contradicts itself: the ticks do not ascend, or are not as many as it says",
	"the signer itself left out ticks before this one: nothing was tampered with",
	"entries at the end were removed or changed",
	"there is no signed end: entries at the end may have been cut off",
}

// signsRFC8032 takes section 7.1 of RFC 8032, and messages of each length about the blocks of SHA-512, signed by Go.
func (s signer) signsRFC8032(t *testing.T) {
	var records [][]byte
	var want []string
	for _, v := range []struct{ secret, key, message, signature string }{
		{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
			"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
		{"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
			"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
		{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
			"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
		{"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42", "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
			"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
			"dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"},
	} {
		b, err := hex.DecodeString(v.secret + v.message)
		if err != nil {
			t.Fatal(err)
		}
		records, want = append(records, b), append(want, v.key+" "+v.signature)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for n := range effort.Long(140, 300) {
		b := make([]byte, 32+n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		secret := ed25519.NewKeyFromSeed(b[:32])
		records, want = append(records, b), append(want, fmt.Sprintf("%x %x", secret.Public(), ed25519.Sign(secret, b[32:])))
	}
	for i, got := range s.asks(t, "sign", records...) {
		if got != want[i] {
			t.Errorf("secret key and message %x:\n%s, expected\n%s", records[i], got, want[i])
		}
	}
}

// isStrict has signatures checked that Go's crypto/ed25519 takes or refuses for one reason only; those it takes with a
// key or R of small order are refused.
func (s signer) isStrict(t *testing.T) {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	little := func(v *big.Int) []byte {
		b := v.FillBytes(make([]byte, 32))
		slices.Reverse(b)
		return b
	}
	number := func(b []byte) *big.Int {
		b = bytes.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	var records [][]byte
	add := func(key, signature, message []byte) {
		records = append(records, slices.Concat(key, signature, message))
	}
	key := chainSecret.Public().(ed25519.PublicKey)
	message := []byte("what is signed")
	good := ed25519.Sign(chainSecret, message)
	add(key, good, message)
	for bit := 0; bit < 512; bit += effort.Long(7, 1) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		add(key, bad, message)
	}
	for bit := 0; bit < 256; bit += effort.Long(7, 1) {
		bad := bytes.Clone(key)
		bad[bit/8] ^= 1 << (bit % 8)
		add(bad, good, message)
	}
	add(key, good, message[1:])
	for n := range int64(9) { // S + nL, as far as it has 32 bytes
		if v := new(big.Int).Add(number(good[32:]), new(big.Int).Mul(order, big.NewInt(n))); v.BitLen() <= 256 {
			add(key, append(bytes.Clone(good[:32]), little(v)...), message)
		}
	}
	// With a key that has few multiples, R is S times the base point for some message, whatever S is. Encodings of y:
	// 0, 1, -1, and the encodings of 2^255 - 19 and more, each with both signs; most of them are points with few
	// multiples or no points.
	keys := [][]byte{}
	for _, y := range []*big.Int{big.NewInt(0), big.NewInt(1), new(big.Int).Sub(prime, big.NewInt(1))} {
		keys = append(keys, little(y), little(new(big.Int).SetBit(y, 255, 1)))
	}
	for n := range int64(19) {
		y := new(big.Int).Add(prime, big.NewInt(n))
		keys = append(keys, little(y), little(new(big.Int).SetBit(y, 255, 1)))
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range effort.Long(10, 40) { // half of all y belong to no point
		k := make([]byte, 32)
		for i := range k {
			k[i] = byte(random.Uint32())
		}
		keys = append(keys, k)
	}
	scalar := sha512.Sum512(chainSecret.Seed())
	scalar[0] &= 248
	scalar[31] = scalar[31]&63 | 64
	multiple := append(bytes.Clone(key), little(new(big.Int).Mod(number(scalar[:32]), order))...)
	identity := append(little(big.NewInt(1)), make([]byte, 32)...)
	notCanonical := append(little(new(big.Int).Add(prime, big.NewInt(1))), make([]byte, 32)...)
	for _, k := range keys {
		for i := range byte(8) {
			for _, signature := range [][]byte{multiple, identity, notCanonical} {
				add(k, signature, []byte{i})
			}
		}
	}
	// A point has order 8 if d·y⁴ + 2y² = 1, with d = -121665/121666; a smaller one if y is 0, 1 or -1.
	d := new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), prime))
	small := func(b []byte) bool {
		y := number(b)
		y.SetBit(y, 255, 0).Mod(y, prime)
		yy := new(big.Int).Mul(y, y)
		v := new(big.Int).Add(new(big.Int).Mul(d, new(big.Int).Mul(yy, yy)), new(big.Int).Lsh(yy, 1))
		one := big.NewInt(1)
		return y.Sign() == 0 || new(big.Int).Mod(yy, prime).Cmp(one) == 0 || v.Mod(v, prime).Cmp(one) == 0
	}
	valid, refused := 0, 0
	for i, got := range s.asks(t, "verify", records...) {
		r := records[i]
		want := "0"
		if ed25519.Verify(r[:32], r[96:], r[32:96]) {
			if small(r[:32]) || small(r[32:64]) {
				refused++
			} else {
				want = "1"
				valid++
			}
		}
		if got != want {
			t.Errorf("key %x, signature %x, message %x: %s, crypto/ed25519 says %s", r[:32], r[32:96], r[96:], got, want)
		}
	}
	if valid == 0 || refused < 20 {
		t.Errorf("%d of %d signatures are valid, %d are of small order", valid, len(records), refused)
	}
}

// writesTheBytes compares chains with those that are put together here.
func (s signer) writesTheBytes(t *testing.T) {
	start := stateAt(1000)
	for _, test := range []struct {
		seed  uint64
		peer  string
		start [32]byte
		ticks []uint64
		how   string
	}{
		{7, "host", [32]byte{}, []uint64{10, 11, 41}, "own"},
		{0, "", [32]byte{}, nil, "own"},
		{127, strings.Repeat("p", 31), start, []uint64{0}, "store"},
		{128, strings.Repeat("p", 32), start, []uint64{1<<64 - 2, 1<<64 - 1}, "own"},
		{65536, strings.Repeat("größer", 50), start, []uint64{0, 1<<64 - 1}, "store"},
		{1<<64 - 1, strings.Repeat("x", 65536), start, []uint64{5, 6, 7, 8, 9, 1000}, "own"},
	} {
		c := newChain(test.seed, test.peer, test.start, chainSecret).append(test.ticks...)
		lines := s.begins(test.seed, test.peer, test.start, test.how)
		for _, tick := range test.ticks {
			lines += fmt.Sprintf("%d %x\n", tick, stateAt(tick))
		}
		if got := s.writes(t, lines); !bytes.Equal(got, c.bytes(false)) {
			t.Errorf("seed %d, not closed:\n%x, expected\n%x", test.seed, got, c.bytes(false))
		}
		if got := s.writes(t, lines+"close\n"); !bytes.Equal(got, c.end().bytes(true)) {
			t.Errorf("seed %d:\n%x, expected\n%x", test.seed, got, c.bytes(true))
		}
	}
	// What cannot be appended leaves the chain as it is.
	c := newChain(7, "host", start, chainSecret).append(10, 12).end()
	lines := s.begins(7, "host", start, "own") + fmt.Sprintf("10 %x\n", stateAt(10))
	for _, tick := range []int{10, 9, 0} {
		lines += fmt.Sprintf("%d %x\n", tick, stateAt(10))
	}
	if got := s.writes(t, lines+fmt.Sprintf("12 %x\nclose\n", stateAt(12))); !bytes.Equal(got, c.bytes(true)) {
		t.Errorf("after ticks that are refused:\n%x, expected\n%x", got, c.bytes(true))
	}
}

// A forgery is a changed chain, and the findings in it by docs/signatures.md. Findings are
// "kind@frame#entry:after:tick", the frame by its number in the file, from the header's 0.
type forgery struct {
	name   string
	change func(c *chain) []byte
	key    []byte // that is trusted, if any
	bound  int
	found  string
}

// forgeries are made of a chain of eight entries. The one of tick 135 comes after 29 ticks that its signer left out.
func chainForgeries() []forgery {
	const skip = "6@7#6:105:135"
	frames := func(change func(f []chainFrame) []chainFrame) func(c *chain) []byte {
		return func(c *chain) []byte { c.frames = change(c.frames); return c.bytes(true) }
	}
	resigned := func(ticks ...[2]uint64) func(c *chain) []byte {
		return func(c *chain) []byte {
			c = newChain(c.seed, c.peer, c.start, c.secret).append(100)
			for _, v := range ticks {
				c.entry(v[0], v[1])
			}
			return c.end().bytes(true)
		}
	}
	byteOf := func(number, at int) func(c *chain) []byte {
		return frames(func(f []chainFrame) []chainFrame { f[number].payload[at] ^= 1; return f })
	}
	cut := func(n int) func(c *chain) []byte {
		return func(c *chain) []byte { b := c.bytes(true); return b[:len(b)-n] }
	}
	const endFrames = 16 + 104 + 16 + 8
	key := chainSecret.Public().(ed25519.PublicKey)
	return []forgery{
		{"none", cut(0), nil, 8, skip},
		{"none, and the key is trusted", cut(0), key, 8, skip},
		{"a state hash of an entry", byteOf(4, 50), nil, 3, "3@4#3:102:103 " + skip},
		{"a tick of an entry", byteOf(4, 40), nil, 3, "3@4#3:102:102 " + skip},
		{"the skipped ticks of an entry", byteOf(4, 32), nil, 3, "3@4#3:102:103 " + skip},
		{"a signature", byteOf(4, 143), nil, 3, "3@4#3:102:103 " + skip},
		{"the first entry", byteOf(1, 50), nil, 0, "3@1#0:-:100 " + skip},
		{"the last entry", byteOf(8, 50), nil, 7, skip + " 3@8#7:135:136"},
		{"the last entry, and one was cut off", frames(func(f []chainFrame) []chainFrame { f[7].payload[50] ^= 1; return slices.Delete(f, 8, 9) }), nil, 6, "3@7#6:105:135 7@8#7:135:-"},
		{"a run that is removed", frames(func(f []chainFrame) []chainFrame { return slices.Delete(f, 3, 5) }), nil, 2, "4@3#2:101:104 6@5#4:105:135"},
		{"the first entries are removed", frames(func(f []chainFrame) []chainFrame { return slices.Delete(f, 1, 3) }), nil, 0, "4@1#0:-:102 6@5#4:105:135"},
		{"the last entries are removed", frames(func(f []chainFrame) []chainFrame { return slices.Delete(f, 7, 9) }), nil, 6, "7@7#6:105:-"},
		{"all entries are removed", frames(func(f []chainFrame) []chainFrame { return slices.Delete(f, 1, 9) }), nil, 0, "7@1#0:-:-"},
		{"two entries change places", frames(func(f []chainFrame) []chainFrame { f[3], f[4] = f[4], f[3]; return f }), nil, 2,
			"4@3#2:101:103 4@4#3:103:102 4@5#4:102:104 " + skip},
		{"an entry is there twice", frames(func(f []chainFrame) []chainFrame { return slices.Insert(f, 4, f[3]) }), nil, 3,
			"4@4#3:102:102 6@8#7:105:135"},
		{"an entry of another session", frames(func(f []chainFrame) []chainFrame {
			f[4] = newChain(8, "host", [32]byte{}, chainSecret).append(100, 101, 102, 103).frames[4]
			return f
		}), nil, 3, "4@4#3:102:103 4@5#4:103:104 " + skip},
		{"all of another key", func(c *chain) []byte {
			return newChain(c.seed, c.peer, c.start, otherSecret).append(100, 101).end().bytes(true)
		}, nil, 2, ""},
		{"all of another key, and one is trusted", func(c *chain) []byte {
			return newChain(c.seed, c.peer, c.start, otherSecret).append(100, 101).end().bytes(true)
		}, key, 0, "1@0#0:-:-"},
		{"one entry of another key", frames(func(f []chainFrame) []chainFrame {
			body := bytes.Clone(f[3].payload[:80])
			f[3].payload = append(body, ed25519.Sign(otherSecret, append([]byte(chainDomain+"entry\n"), body...))...)
			return f
		}), nil, 2, "3@3#2:101:102 " + skip},
		{"another peer's name", frames(func(f []chainFrame) []chainFrame {
			f[0].payload = bytes.Replace(f[0].payload, []byte("\xa4host"), []byte("\xa4hosu"), 1)
			return f
		}), nil, 0, "4@1#0:-:100 " + skip},
		{"the end's count", byteOf(9, 32), nil, 8, skip + " 3@9#8:136:-"},
		{"the end's last", byteOf(9, 3), nil, 8, skip + " 3@9#8:136:-"},
		{"no end", frames(func(f []chainFrame) []chainFrame { return f[:9] }), nil, 8, skip + " 8@9#8:136:-"},
		{"no end, and no marker of one", cut(endFrames), nil, 8, skip + " 8@9#8:136:-"},
		{"no end, and some entries less", frames(func(f []chainFrame) []chainFrame { return f[:4] }), nil, 3, "8@4#3:102:-"},
		{"no entries", frames(func(f []chainFrame) []chainFrame { return f[:1] }), nil, 0, "8@1#0:-:-"},
		{"cut inside the end", cut(endFrames - 30), nil, 8, skip + " 8@9#8:136:-"},
		{"cut inside the head of an entry", cut(endFrames + 160 - 9), nil, 7, skip + " 8@8#7:135:-"},
		{"cut inside an entry", cut(endFrames + 1), nil, 7, skip + " 8@8#7:135:-"},
		{"cut after the end", cut(24), nil, 8, skip},
		{"zeros where an entry was being written", func(c *chain) []byte {
			b := c.bytes(true)
			clear(b[len(b)-endFrames-100:])
			return b
		}, nil, 7, skip + " 8@8#7:135:-"},
		{"a zero less than a crash leaves", func(c *chain) []byte {
			b := c.bytes(true)[:sizeOf(c, 9)]
			clear(b[len(b)-15:])
			b[len(b)-16] |= 1
			return b
		}, nil, 7, skip + " 2@8#7:-:-"},
		{"a damaged entry", func(c *chain) []byte { b := c.bytes(true); b[sizeOf(c, 4)+20] ^= 4; return b }, nil, 3, "2@4#3:-:-"},
		{"a damaged checksum", func(c *chain) []byte { b := c.bytes(true); b[sizeOf(c, 4)+8] ^= 4; return b }, nil, 3, "2@4#3:-:-"},
		{"a damaged length", func(c *chain) []byte { b := c.bytes(true); b[sizeOf(c, 4)+1] ^= 4; return b }, nil, 3, "2@4#3:-:-"},
		{"a wrong count in the end marker", func(c *chain) []byte {
			end := sizeOf(c, 10)
			c.frames = append(c.frames, chainFrame{3, nil})
			return slices.Delete(c.bytes(true), end, end+16)
		}, nil, 8, skip + " 2@10#8:-:-"},
		{"bytes after the end marker", func(c *chain) []byte { return append(c.bytes(true), 0) }, nil, 8, skip + " 2@11#8:-:-"},
		{"a longer entry", frames(func(f []chainFrame) []chainFrame { f[4].payload = append(f[4].payload, 0); return f }), nil, 3, "2@4#3:-:-"},
		{"a shorter end", frames(func(f []chainFrame) []chainFrame { f[9].payload = f[9].payload[1:]; return f }), nil, 8, skip + " 2@9#8:-:-"},
		{"a second header", frames(func(f []chainFrame) []chainFrame { return slices.Insert(f, 4, f[0]) }), nil, 3, "2@4#3:-:-"},
		{"a frame of no kind", frames(func(f []chainFrame) []chainFrame { return slices.Insert(f, 4, chainFrame{4, f[4].payload}) }), nil, 3, "2@4#3:-:-"},
		{"a second end", frames(func(f []chainFrame) []chainFrame { return append(f, f[9]) }), nil, 8, skip + " 2@10#8:-:-"},
		{"an entry after the end", frames(func(f []chainFrame) []chainFrame { f[8], f[9] = f[9], f[8]; return f }), nil, 7, skip + " 7@8#7:135:- 2@9#7:-:-"},
		{"a frame of more than 1 MiB", func(c *chain) []byte {
			head := binary.LittleEndian.AppendUint64(nil, 2<<32|1<<20+1)
			return append(c.bytes(true)[:sizeOf(c, 4)], bytes.Repeat(checksummed(append(head, 0, 0, 0, 0)), 3)...)
		}, nil, 3, "2@4#3:-:-"},
		{"a tick twice, signed", resigned([2]uint64{100, 0}), nil, 1, "5@2#1:100:100"},
		{"a tick that goes back, signed", resigned([2]uint64{99, 1<<64 - 2}), nil, 1, "5@2#1:100:99"},
		{"fewer ticks than are skipped, signed", resigned([2]uint64{103, 1}, [2]uint64{104, 0}), nil, 1, "5@2#1:100:103"},
		{"skipped ticks that are not, signed", resigned([2]uint64{101, 5}), nil, 1, "5@2#1:100:101"},
		{"skipped ticks before the first, signed", func(c *chain) []byte {
			c = newChain(c.seed, c.peer, c.start, c.secret)
			c.entry(100, 100)
			return c.end().bytes(true)
		}, nil, 0, "5@1#0:-:100"},
		{"an end that counts more, signed", func(c *chain) []byte {
			c = newChain(c.seed, c.peer, c.start, c.secret).append(100)
			c.count = 9
			return c.end().bytes(true)
		}, nil, 1, "5@2#1:100:-"},
	}
}

// sizeOf is where a frame of a chain begins.
func sizeOf(c *chain, frames int) int {
	size := 16
	for _, f := range c.frames[:frames] {
		size += 16 + len(f.payload)
	}
	return size
}

// checksummed appends the checksum of a frame's head, or of a preamble.
func checksummed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func baseChain() *chain {
	return newChain(7, "host", [32]byte{}, chainSecret).append(100, 101, 102, 103, 104, 105, 135, 136).end()
}

// checkRecord is what the mode check takes.
func checkRecord(file, key []byte, tick uint64) []byte {
	b := append([]byte{byte(len(key) / 32)}, append(bytes.Clone(key), make([]byte, 32-len(key))...)...)
	return append(binary.LittleEndian.AppendUint64(b, tick), file...)
}

var findingKind = regexp.MustCompile(` (\d)@\d+#\d+:\S+`)

var findingPlace = regexp.MustCompile(`@(\d+)`)

// frameOffsets is where the frames of a file begin, and what follows the last one.
func frameOffsets(file []byte) []int {
	list := []int{0}
	for at := 16; len(file)-at >= 16; at += 16 + int(binary.LittleEndian.Uint32(file[at:])) {
		list = append(list, at)
	}
	return append(list[1:], list[len(list)-1]+16+int(binary.LittleEndian.Uint32(file[list[len(list)-1]:])))
}

// TestSignaturesJudged: the reference that these tests compare the SDKs with has the findings of the table for each
// forgery.
func TestSignaturesJudged(t *testing.T) {
	for _, f := range chainForgeries() {
		file := f.change(baseChain())
		parts := strings.SplitN(judged(file, f.key, 0), " ", 11)
		if len(parts) == 10 {
			parts = append(parts, "")
		}
		if len(parts) < 11 {
			t.Errorf("%s: %q", f.name, parts)
			continue
		}
		offsets := frameOffsets(file)
		got := findingPlace.ReplaceAllStringFunc(parts[10], func(m string) string {
			at, _ := strconv.Atoi(m[1:])
			return fmt.Sprintf("@%d", slices.Index(offsets, at))
		})
		if got != f.found || parts[5] != fmt.Sprint(f.bound) {
			t.Errorf("%s: %s bound, %q, expected %d, %q", f.name, parts[5], got, f.bound, f.found)
		}
	}
}

// namesForgeries has a program report the findings in each forgery, and refuse files if their header cannot be read.
func (s signer) namesForgeries(t *testing.T) {
	var names, want []string
	var records [][]byte
	for i, f := range chainForgeries() {
		file, tick := f.change(baseChain()), uint64(100+i%6)
		names, want = append(names, f.name), append(want, judged(file, f.key, tick))
		records = append(records, checkRecord(file, f.key, tick))
	}
	refused := func(name string, file []byte) {
		names, want = append(names, name), append(want, "refused")
		records = append(records, checkRecord(file, nil, 0))
	}
	good := baseChain().bytes(true)
	for n := range 16 + 16 + len(baseChain().frames[0].payload) {
		refused(fmt.Sprint("cut after ", n), good[:n])
	}
	preamble := func(magic string, version byte, flags byte) []byte {
		return append(checksummed(append([]byte(magic), version, 0, flags, 0)), good[16:]...)
	}
	refused("another magic", preamble("\x89DOL\r\n\x1a\n", 1, 0))
	refused("version 0", preamble(chainFormat.Magic, 0, 0))
	refused("version 2", preamble(chainFormat.Magic, 2, 0))
	refused("flags", preamble(chainFormat.Magic, 1, 1))
	refused("a damaged preamble", append([]byte(chainFormat.Magic+"\x01\x00\x00\x00\x00\x00\x00\x00"), good[16:]...))
	damaged := bytes.Clone(good)
	damaged[40] ^= 1
	refused("a damaged header", damaged)
	headers := func(change func(f []chainFrame) []chainFrame) []byte {
		c := baseChain()
		c.frames = change(c.frames)
		return c.bytes(true)
	}
	refused("no header", headers(func(f []chainFrame) []chainFrame { return f[1:] }))
	refused("nothing", headers(func(f []chainFrame) []chainFrame { return nil }))
	header := string(baseChain().frames[0].payload)
	with := func(payload string) []byte {
		return headers(func(f []chainFrame) []chainFrame { f[0].payload = []byte(payload); return f })
	}
	nested := strings.Repeat("\x91", 1<<20-200) + "\x01"
	for name, payload := range map[string]string{
		"no map": "\x93" + header[1:], "a map of three": "\x83" + header[1:], "more after it": header + "\x01", "a key twice": "\x85" + header[1:] + "\xa4seed\x07",
		"a key that is a number": "\x85" + header[1:] + "\x01\x07", "no seed": strings.Replace(header, "seed", "feed", 1), "a seed below 0": strings.Replace(header, "seed\x07", "seed\xff", 1),
		"a seed that is text": strings.Replace(header, "seed\x07", "seed\xa0", 1), "a peer that is bytes": strings.Replace(header, "\xa4host", "\xc4\x04host", 1),
		"a key of 31 bytes": strings.Replace(header, "key\xc4\x20\x03", "key\xc4\x1f", 1), "a start of 33 bytes": strings.Replace(header, "start\xc4\x20", "start\xc4\x21\x00", 1),
		"a key that is text": strings.Replace(header, "key\xc4\x20", "key\xd9\x20", 1), "an extension": "\x85" + header[1:] + "\xa1x\xc7\x01\x01\x01", "empty": "",
		"a map of four billion": "\xdf\xff\xff\xff\xff" + header[1:], "a long string": "\x85" + header[1:] + "\xdb\xff\xff\xff\xff",
		"a long name": strings.Replace(header, "\xa4host", "\xdb\x00\x01\x00\x01"+strings.Repeat("x", 65537), 1), "arrays in arrays that do not end": "\x85" + header[1:] + "\xa1x" + nested[:1000],
	} {
		refused(name, with(payload))
	}
	// These are read: longer forms, another order, keys that are not known, a name that is not text.
	for name, payload := range map[string]string{
		"a long seed": strings.Replace(header, "seed\x07", "seed\xd3\x00\x00\x00\x00\x00\x00\x00\x07", 1), "a long map": "\xdf\x00\x00\x00\x04" + header[1:],
		"more keys": "\x86\xa1x\x93\x01\xc0\x81\xa1y\xcb\x00\x00\x00\x00\x00\x00\x00\x00" + header[1:] + "\xa0\xc2", "arrays in arrays": "\x85" + header[1:] + "\xa1x" + nested,
		"another order": "\x84\xa4peer\xd9\x04host\xa4seed\xcc\x07" + header[12+len("\xa4peer"):],
	} {
		names, want = append(names, name), append(want, judged(with(payload), nil, 100))
		records = append(records, checkRecord(with(payload), nil, 100))
		if !strings.Contains(want[len(want)-1], " 8 8 1 1 1 ") {
			t.Errorf("%s: the reader in Go says %s", name, want[len(want)-1])
		}
	}
	odd := newChain(7, "h\xffst\x00\xc3", [32]byte{}, chainSecret).append(100).end().bytes(true)
	names, want, records = append(names, "a name that is not text"), append(want, judged(odd, nil, 100)), append(records, checkRecord(odd, nil, 100))
	// More than are listed.
	many := newChain(7, "host", [32]byte{}, chainSecret).append(100)
	for range 1100 {
		many.frames = append(many.frames, many.frames[1])
	}
	names, want, records = append(names, "a thousand findings"), append(want, judged(many.bytes(true), nil, 100)), append(records, checkRecord(many.bytes(true), nil, 100))
	for i, got := range s.asks(t, "check", records...) {
		if got != want[i] {
			t.Errorf("%s:\n%s, expected\n%s", names[i], got, want[i])
		}
	}
}

// judgesMutants has a program read what is left of a chain after some changes: of bytes, with the checksums made right again or not, of the order of
// frames, and of the end.
func (s signer) judgesMutants(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var records [][]byte
	var want []string
	for range effort.Long(60, 1000) {
		c := newChain(7, "host", [32]byte{}, chainSecret).append(100, 101, 110)
		if random.IntN(3) > 0 {
			c.end()
		}
		for range random.IntN(3) {
			a, b := 1+random.IntN(len(c.frames)-1), 1+random.IntN(len(c.frames)-1)
			switch f := &c.frames[a]; random.IntN(4) {
			case 0:
				c.frames[a], c.frames[b] = c.frames[b], c.frames[a]
			case 1:
				c.frames = slices.Insert(c.frames, b, *f)
			case 2:
				c.frames = slices.Delete(c.frames, min(a, b), max(a, b))
				if len(c.frames) == 1 {
					c.append(111)
				}
			default:
				f.payload = bytes.Clone(f.payload)
				f.payload[random.IntN(len(f.payload))] ^= 1 << random.IntN(8)
			}
		}
		file := c.bytes(random.IntN(2) == 0)
		switch random.IntN(4) {
		case 0:
			file = file[:random.IntN(len(file)+1)]
		case 1:
			file[random.IntN(len(file))] ^= 1 << random.IntN(8)
		case 2:
			file = append(file[:random.IntN(len(file)+1)], make([]byte, random.IntN(40))...)
		}
		var key []byte
		if random.IntN(2) == 0 {
			key = c.key()
		}
		tick := uint64(100 + random.IntN(12))
		records, want = append(records, checkRecord(file, key, tick)), append(want, judged(file, key, tick))
	}
	for i, got := range s.asks(t, "check", records...) {
		if got != want[i] {
			t.Errorf("of %x:\n%s, expected\n%s", records[i][41:], got, want[i])
		}
	}
}

// losesNothing kills a program while it writes: each entry that it said was written is in the file.
func (s signer) losesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range effort.Long(1, 10) {
		path := filepath.Join(t.TempDir(), "tick-signatures.bin")
		cmd := exec.Command(s[0], append(slices.Clone(s[1:]), "write", path)...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(stdout)
		entries := 1 + random.IntN(60)
		go func() {
			w := bufio.NewWriter(stdin)
			_, _ = io.WriteString(w, s.begins(7, "host", [32]byte{}, "own"))
			for tick := range uint64(1000) {
				fmt.Fprintf(w, "%d %x\n", tick, stateAt(tick))
			}
			_ = w.Flush() // it is killed before it has read all
		}()
		for tick := range entries {
			if answer, err := answers.ReadString('\n'); strings.TrimSpace(answer) != fmt.Sprint(tick) {
				t.Fatalf("entry %d: %q, %v", tick, answer, err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged := entries
		for {
			if _, err := answers.ReadString('\n'); err != nil {
				break
			}
			acknowledged++
		}
		_ = cmd.Wait()
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ entries, bound int }
		said := judged(file, nil, 0)
		if parts := strings.Fields(said); len(parts) > 5 {
			got.entries, _ = strconv.Atoi(parts[4])
			got.bound, _ = strconv.Atoi(parts[5])
		}
		if got.bound < acknowledged || got.entries != got.bound {
			t.Errorf("%d entries were acknowledged, the file: %s", acknowledged, said)
		}
	}
}

// vectorNumber is a number of docs/vectors, which is in an object where it is large.
type vectorNumber uint64

func (v *vectorNumber) UnmarshalJSON(b []byte) error {
	var large struct{ U64 string }
	if json.Unmarshal(b, &large) == nil && large.U64 != "" {
		b = []byte(large.U64)
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	*v = vectorNumber(n)
	return err
}

// agreesWithVectors has a program write and check the chains of docs/vectors/signatures.json.
func (s signer) agreesWithVectors(t *testing.T) {
	b, err := os.ReadFile("../vectors/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		Name string
		In   struct {
			Secret                  string
			Key, Message, Signature string // of small order
			Header                  *struct {
				Seed        vectorNumber
				Peer, Start string
			}
			Entries []struct {
				Tick  vectorNumber
				State string
			}
			End bool
		}
		Out struct {
			Header, File string
			Break        *struct {
				Entry uint64
				What  string
			} `json:"first_break"`
		}
	}
	var all struct{ Vectors []vector }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{"tampered": tampered, "end-tampered": tampered, "missing": missing, "contradiction": contradiction, "missing-at-end": missingAtEnd}
	written, broken := 0, 0
	var small [][]byte
	for _, v := range all.Vectors {
		if v.In.Key != "" {
			record, err := hex.DecodeString(v.In.Key + v.In.Signature + v.In.Message)
			if err != nil {
				t.Fatal(err)
			}
			small = append(small, record)
		}
		if v.In.Header == nil {
			continue
		}
		file, err := hex.DecodeString(v.Out.File)
		if err != nil {
			t.Fatal(err)
		}
		if v.Out.Break != nil {
			broken++
			line := s.asks(t, "check", checkRecord(file, nil, 0))[0]
			first := ""
			for _, f := range findingKind.FindAllStringSubmatch(line, -1) {
				if f[1] != fmt.Sprint(skippedTicks) {
					first = f[0]
					break
				}
			}
			want := regexp.MustCompile(fmt.Sprintf(`^ %d@\d+#%d:`, kinds[v.Out.Break.What], v.Out.Break.Entry))
			if kinds[v.Out.Break.What] == 0 || !want.MatchString(first) {
				t.Errorf("%s: it says %s, expected %s in entry %d first", v.Name, line, v.Out.Break.What, v.Out.Break.Entry)
			}
			continue
		}
		written++
		lines := fmt.Sprintf("%d %x %s %s own\n", uint64(v.In.Header.Seed), v.In.Header.Peer, v.In.Header.Start, v.In.Secret)
		for _, e := range v.In.Entries {
			lines += fmt.Sprintf("%d %s\n", uint64(e.Tick), e.State)
		}
		if v.In.End {
			lines += "close\n"
		}
		got := fmt.Sprintf("%x", s.writes(t, lines))
		if v.Out.File == "" { // the header alone
			got, v.Out.File = got[2*(16+16):], v.Out.Header
		}
		if got != v.Out.File || got == "" {
			t.Errorf("%s:\n%s, expected\n%s", v.Name, got, v.Out.File)
		}
	}
	if written < 5 || broken < 10 || len(small) < 22 {
		t.Errorf("%d chains were written, %d broken ones checked, %d points of small order", written, broken, len(small))
	}
	for i, got := range s.asks(t, "verify", small...) {
		if got != "0" {
			t.Errorf("key, signature and message %x: it says %s", small[i], got)
		}
	}
}

func TestPythonSignatures(t *testing.T) {
	thorough(t)
	needTool(t, "python3")
	signer{"python3", "testdata/signatures.py"}.signs(t)
}

func TestCSignatures(t *testing.T) {
	effort.Whole(t)
	signer{compile(t, "testdata/signatures.c", effort.Of("-O1", "-O2"))}.signs(t)
}

func TestCSignaturesSanitized(t *testing.T) {
	thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("sanitizers are tried on Linux")
	}
	signer{compile(t, "testdata/signatures.c", sanitized...)}.signs(t)
}

func TestCPPSignatures(t *testing.T) {
	thorough(t)
	signer{sanitizedCPP(t, "testdata/signatures.cpp")}.signs(t)
}

func TestRustSignatures(t *testing.T) {
	thorough(t)
	signer{compileRust(t, "testdata/signatures.rs", "-C", "opt-level=1")}.signs(t)
}

func TestCSharpSignatures(t *testing.T) {
	thorough(t)
	signer{"mono", compileCSharp(t, csharpSDK, "testdata/Signatures.cs")}.signs(t)
}

func TestTypeScriptSignatures(t *testing.T) {
	thorough(t)
	needTool(t, "node")
	signer{"node", bundle(t, "testdata/signatures.ts")}.signs(t)
}
