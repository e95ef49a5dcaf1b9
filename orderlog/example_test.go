package orderlog_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

func Example() {
	kinds := []orderlog.OrderKind{{Name: "move"}, {Name: "chat", Local: true}}
	header := orderlog.Header{Seed: 7, Peer: "host", Kinds: kinds, TickRate: orderlog.Rate{Num: 30, Den: 1}}

	var file bytes.Buffer
	w, err := orderlog.NewWriter(&file, header, orderlog.WriterOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := []orderlog.Order{
		{Tick: 100, SubTick: 16667, Player: 2, Sequence: 17, Payload: []byte{1, 2}},
		{Tick: 100, SubTick: 9000, Player: 3, Sequence: 4, Kind: 1, Payload: []byte("gg")},
	}
	orderlog.SortOrders(orders)
	w.WriteTick(&orderlog.Tick{
		Number:    100,
		InputHash: orderlog.InputHash(kinds, orders),
		Orders:    orders,
	})
	sync := merkle.Short{1, 2, 3, 4, 5, 6, 7, 8}
	w.WriteObserved([]orderlog.Observed{{Point: 101, Kind: orderlog.SyncHash, Bytes: sync[:]}})
	w.Close()

	r, err := orderlog.NewReader(&file, "order-log.bin")
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(err) // torn or corrupt; all that precedes was delivered
			break
		}
		switch rec.Kind {
		case orderlog.TickRecord:
			for _, o := range rec.Tick.Orders {
				fmt.Printf("tick %d: player %d: %s %x\n", o.Tick, o.Player, kinds[o.Kind].Name, o.Payload)
			}
		case orderlog.ObservedRecord:
			fmt.Printf("point %d: %x\n", rec.Observed[0].Point, rec.Observed[0].Bytes)
		}
	}
	// Output:
	// tick 100: player 3: chat 6767
	// tick 100: player 2: move 0102
	// point 101: 0102030405060708
}

func ExampleWriteText() {
	var file bytes.Buffer
	w, _ := orderlog.NewWriter(&file, orderlog.Header{Peer: "host", Kinds: []orderlog.OrderKind{{Name: "move"}}}, orderlog.WriterOptions{})
	w.WriteTick(&orderlog.Tick{Number: 5, Orders: []orderlog.Order{{Tick: 5, Player: 2, Sequence: 17, Payload: []byte{0x93}}}})
	w.Close()

	r, _ := orderlog.NewReader(&file, "order-log.bin")
	if err := orderlog.WriteText(os.Stdout, r); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool order-log 1
	// header.seed = 0
	// header.peer = "host"
	// header.build = ""
	// header.tick_rate = 0/0
	// header.start = 0x0000000000000000000000000000000000000000000000000000000000000000
	// header.first_point = 0
	// header.epoch = 0
	// header.kind[0] = "move"
	// tick[5].input_hash = 0x0000000000000000
	// tick[5].order[0] = player 2 seq 17 at 0 "move" 0x93
	// %end
}

func ExampleCompare() {
	// What two peers applied; the second order came to the client a tick late.
	write := func(ticks ...orderlog.Tick) *bytes.Buffer {
		var file bytes.Buffer
		w, _ := orderlog.NewWriter(&file, orderlog.Header{Kinds: []orderlog.OrderKind{{Name: "move"}}}, orderlog.WriterOptions{})
		for i := range ticks {
			w.WriteTick(&ticks[i])
		}
		w.Close()
		return &file
	}
	move := func(tick uint64, sequence uint32) []orderlog.Order {
		return []orderlog.Order{{Tick: tick, Player: 2, Sequence: sequence, Payload: []byte{0x93}}}
	}
	host := write(orderlog.Tick{Number: 5, Orders: move(5, 17)}, orderlog.Tick{Number: 6, Orders: move(6, 18)}, orderlog.Tick{Number: 7})
	client := write(orderlog.Tick{Number: 5, Orders: move(5, 17)}, orderlog.Tick{Number: 6}, orderlog.Tick{Number: 7, Orders: move(7, 18)})

	var peers []orderlog.Named
	for _, p := range []struct {
		name string
		file *bytes.Buffer
	}{{"host", host}, {"client", client}} {
		r, err := orderlog.NewReader(p.file, p.name)
		if err != nil {
			fmt.Println(err)
			return
		}
		peers = append(peers, orderlog.Named{Name: p.name, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Line())
	// Output:
	// inputs differ: network layer: 6 late move of player 2 on client: host at 6, client at 7
}

// How many orders each player gave, from a log of any size: memory holds one tick at a time.
func ExampleReader() {
	file := strings.NewReader(`%desynctool order-log 1
header.peer = "host"
header.kind[0] = "move"
tick[5].input_hash = 0x0000000000000000
tick[5].order[0] = player 2 seq 17 at 0 "move" 0x93
tick[5].order[1] = player 3 seq 4 at 0 "move" 0x01
tick[9].input_hash = 0x0000000000000000
tick[9].order[0] = player 2 seq 18 at 0 "move" 0x94
%end
`)
	var binary bytes.Buffer
	if err := orderlog.ParseText(&binary, file, "orders.txt"); err != nil {
		fmt.Println(err)
		return
	}
	r, err := orderlog.NewReader(&binary, "orders.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := map[uint32]int{}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		if rec.Tick != nil {
			for _, o := range rec.Tick.Orders {
				orders[o.Player]++
			}
		}
	}
	fmt.Println(orders)
	// Output: map[2:2 3:1]
}

// Two payloads of one order. Payloads in JSON or MessagePack are compared by their fields.
func ExampleDiffPayload() {
	host := []byte(`{"unit":7,"to":[10,20],"queue":false}`)
	client := []byte(`{"unit":7,"to":[10,21],"queue":false}`)
	d := orderlog.DiffPayload(host, client)
	fmt.Printf("from byte %d on: %q against %q\n", d.Offset, string(d.Base), string(d.Peer))
	for _, f := range d.Fields {
		fmt.Printf("%s: %s against %s\n", f.Path, f.Base, f.Peer)
	}
	// Output:
	// from byte 20 on: "0" against "1"
	// to[1]: 20 against 21
}
