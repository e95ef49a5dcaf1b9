package main

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"time"

	"github.com/desynctool/desynctool/relay"
)

// TestServe: the relay asks two peers with beats that differ, and carries what they send to each other.
func TestServe(t *testing.T) {
	out, in := io.Pipe()
	go func() {
		in.CloseWithError(serve(in, "127.0.0.1:0", relay.Options{Seed: 7, Peers: []string{"relay", "ann", "bob"}}))
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var peers [3]net.Conn
	for i := 1; i < 3; i++ {
		if peers[i], err = net.Dial("udp", address[:len(address)-1]); err != nil {
			t.Fatal(err)
		}
		defer peers[i].Close()
		_ = peers[i].SetDeadline(time.Now().Add(time.Minute))
	}
	write := func(from int, to byte, packet []byte) {
		if _, err := peers[from].Write(append([]byte{byte(from), to}, packet...)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(at int) []byte {
		b := make([]byte, 2048)
		n, err := peers[at].Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return b[:n]
	}
	write(1, 0, beat(1))
	write(2, 0, beat(2))
	for kinds := 0; kinds != 1<<2|1<<3; { // an alert, and a question
		if b := read(1); b[0] == 0 && len(b) > 4 {
			kinds |= 1 << b[4]
		}
	}
	write(2, 1, []byte("carried"))
	for b := read(1); string(b) != "\x02carried"; b = read(1) {
	}
}

func beat(history uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte("DF\x01\x01"), 7)
	b = binary.LittleEndian.AppendUint64(append(b, make([]byte, 8)...), 16)
	b = binary.LittleEndian.AppendUint64(b, history)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
