package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
)

var logCommands = []string{"triage", "orders", "doctor", "triage --format json"}

// twoLogs returns a case of the order logs of two peers. What write appends to each may depend on
// which of them it is, 0 or 1.
func twoLogs(name string, size int, header func(h *orderlog.Header, n int), write func(w *orderlog.Writer, peer, n int) error) hostile {
	return hostile{name: "log/" + name, size: size, commands: logCommands, make: func(t testing.TB, dir string, n int) {
		for peer, who := range []string{"host", "client"} {
			h := orderlog.Header{Seed: 7, Peer: who, Build: "1", Kinds: []orderlog.OrderKind{{Name: "move"}, {Name: "chat", Local: true}}, Peers: []string{"host", "client"}}
			if header != nil {
				header(&h, n)
			}
			create(t, filepath.Join(dir, who, "order-log.bin"), func(out *bufio.Writer) error {
				w, err := orderlog.NewWriter(out, h, orderlog.WriterOptions{})
				if err != nil {
					return err
				}
				if err := write(w, peer, n); err != nil {
					return err
				}
				return w.Close()
			})
		}
	}}
}

// create writes a file, and the folders above it.
func create(t testing.TB, path string, write func(out *bufio.Writer) error) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	if err := write(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// ordersOf returns a tick's orders, one of each player.
func ordersOf(tick uint64, n int, payload func(i int) string) []orderlog.Order {
	list := make([]orderlog.Order, n)
	for i := range list {
		list[i] = orderlog.Order{Tick: tick, Player: uint32(i), Sequence: uint32(tick), Payload: []byte(payload(i))}
	}
	return list
}

func hostileLogs() []hostile {
	oneTick := func(name string, size int, order func(peer, i, n int) orderlog.Order) hostile {
		return twoLogs(name, size, nil, func(w *orderlog.Writer, peer, n int) error {
			t := orderlog.Tick{Orders: make([]orderlog.Order, n)}
			for i := range t.Orders {
				t.Orders[i] = order(peer, i, n)
			}
			return w.WriteTick(&t)
		})
	}
	manyTicks := func(name string, size int, tick func(peer, i, n int) *orderlog.Tick) hostile {
		return twoLogs(name, size, nil, func(w *orderlog.Writer, peer, n int) error {
			for i := range n {
				t := tick(peer, i, n)
				if t == nil {
					continue
				}
				if err := w.WriteTick(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return []hostile{
		oneTick("players", 25_000, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{Player: uint32(i), Sequence: uint32(i), Payload: []byte("p")}
		}),
		oneTick("reversed", 12_500, func(peer, i, n int) orderlog.Order {
			if peer == 1 {
				i = n - 1 - i
			}
			return orderlog.Order{Player: 1, Sequence: uint32(i), Payload: []byte("p")}
		}),
		oneTick("equal-but-one", 12_500, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{Player: uint32(min(peer, i)), Payload: []byte("p")}
		}),
		oneTick("altered", 12_500, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{Player: 1, Sequence: uint32(i), Payload: fmt.Append(nil, peer, i)}
		}),
		oneTick("altered-unnumbered", 12_500, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{Player: 1, Payload: fmt.Append(nil, peer, i)}
		}),
		oneTick("missing-extra", 12_500, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{Player: uint32(peer), Sequence: uint32(i), Payload: fmt.Append(nil, peer, i)}
		}),
		oneTick("duplicated", 12_500, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{Player: 1, Sequence: uint32(i >> peer), Payload: []byte("p")}
		}),
		oneTick("maximal", 12_500, func(peer, i, n int) orderlog.Order {
			return orderlog.Order{SubTick: ^uint32(0), Player: ^uint32(0) - uint32(i), Sequence: ^uint32(0), Kind: uint32(peer), Payload: []byte("p")}
		}),
		manyTicks("late", 6_250, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Orders: []orderlog.Order{{Tick: uint64(i), Player: 1, Sequence: uint32(i + 100*peer), Payload: []byte("p")}}}
		}),
		manyTicks("every-order-other", 12_500, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Orders: []orderlog.Order{{Tick: uint64(i), Player: 1, Sequence: uint32(i), Payload: fmt.Append(nil, peer, i)}}}
		}),
		manyTicks("random-gaps", 12_500, func(peer, i, n int) *orderlog.Tick {
			if (i*2654435761)>>(7+peer)&1 == 0 {
				return nil
			}
			return &orderlog.Tick{Number: uint64(i), Orders: []orderlog.Order{{Tick: uint64(i), Player: 1, Sequence: uint32(i), Payload: []byte("p")}}}
		}),
		manyTicks("far-gaps", 12_500, func(peer, i, n int) *orderlog.Tick {
			k := uint64(i) * (1 << 45)
			return &orderlog.Tick{Number: k + uint64(peer), Orders: []orderlog.Order{{Tick: k + uint64(peer), Player: 1, Sequence: uint32(i), Payload: []byte("p")}}}
		}),
		manyTicks("loads", 12_500, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i % 100), Markers: []orderlog.Marker{{Kind: orderlog.Load, Player: 1, Point: uint64(i % 100), NewEpoch: true}}, Orders: []orderlog.Order{{Tick: uint64(i % 100), Player: 1, Sequence: uint32(i), Payload: fmt.Append(nil, peer)}}}
		}),
		manyTicks("joins", 12_500, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Markers: []orderlog.Marker{{Kind: orderlog.Join, Player: uint32(i), Peer: uint32(i), NewEpoch: i%2 == peer, Point: uint64(i)}}, Orders: []orderlog.Order{{Tick: uint64(i), Player: 1, Sequence: uint32(i), Payload: []byte("p")}}}
		}),
		manyTicks("resyncs", 12_500, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{{Point: uint64(i), Peer: uint32(peer), Kind: "sync", Bytes: fmt.Appendf(nil, "%08d", i+peer)}}, Markers: []orderlog.Marker{{Kind: orderlog.Resync, Peer: uint32(peer), NewEpoch: true, Point: uint64(i)}}}
		}),
		manyTicks("hashes-differ", 12_500, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{{Point: uint64(i), Peer: uint32(peer), Kind: "sync", Bytes: fmt.Appendf(nil, "%08d", i+peer)}}}
		}),
		manyTicks("hash-kinds", 6_250, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{{Point: uint64(i), Peer: uint32(peer), Kind: orderlog.HashKind(fmt.Sprint("k", i)), Coverage: orderlog.Coverage(fmt.Sprint("c", i)), Bytes: fmt.Appendf(nil, "%08d", i+peer)}}}
		}),
		manyTicks("hashed-peers", 6_250, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{{Point: 5, Peer: uint32(i), Kind: "sync", Bytes: fmt.Appendf(nil, "%08d", i+peer)}}}
		}),
		manyTicks("hashes-one-point", 6_250, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{{Point: 5, Peer: uint32(peer), Kind: "sync", Bytes: fmt.Appendf(nil, "%08d", i)}}}
		}),
		manyTicks("markers", 12_500, func(peer, i, n int) *orderlog.Tick {
			return &orderlog.Tick{Number: uint64(i), Markers: []orderlog.Marker{{Kind: orderlog.Leave, Player: uint32(i), Peer: uint32(i + peer), Text: fmt.Sprint(i)}, {Kind: orderlog.FailedOrder, Player: uint32(i), Sequence: uint32(i)}}}
		}),
		twoLogs("kinds-peers", 8_000, func(h *orderlog.Header, n int) {
			h.Params = map[string]string{}
			for i := range min(n, 65_000) {
				h.Kinds = append(h.Kinds, orderlog.OrderKind{Name: fmt.Sprint("k", i)})
				h.Peers = append(h.Peers, fmt.Sprint("p", i))
				h.Params[fmt.Sprint("x", i)] = "y"
			}
		}, func(w *orderlog.Writer, peer, n int) error {
			for i := range 20 {
				if err := w.WriteTick(&orderlog.Tick{Number: uint64(i), Orders: ordersOf(uint64(i), 3, func(j int) string { return fmt.Sprint(peer, j) }),
					Hashes: []orderlog.Observed{{Point: uint64(i), Peer: uint32(peer), Kind: "sync", Bytes: fmt.Appendf(nil, "%08d", i+peer)}}}); err != nil {
					return err
				}
			}
			return nil
		}),
		manyTicks("json-payloads", 200, func(peer, i, n int) *orderlog.Tick {
			b := []byte("{")
			for k := range 500 {
				b = fmt.Appendf(b, `"k%d":%d,`, k, k+peer)
			}
			return &orderlog.Tick{Number: uint64(i), Orders: []orderlog.Order{{Tick: uint64(i), Player: 1, Sequence: uint32(i), Payload: append(b, `"z":1}`...)}}}
		}),
		oneTick("deep-payload", 2, func(peer, i, n int) orderlog.Order {
			b := make([]byte, 0, 1<<20)
			for range 200_000 {
				b = append(b, '[')
			}
			return orderlog.Order{Player: 1, Sequence: uint32(i), Payload: fmt.Append(b, peer)}
		}),
		manyTicks("long-payload", 2, func(peer, i, n int) *orderlog.Tick {
			b := make([]byte, orderlog.MaxPayload)
			for k := range b {
				b[k] = byte(k >> peer)
			}
			return &orderlog.Tick{Number: uint64(i), Orders: []orderlog.Order{{Tick: uint64(i), Player: 1, Sequence: uint32(i), Payload: b}}}
		}),
	}
}
