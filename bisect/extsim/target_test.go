package extsim

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
)

// TestMain makes this binary a target: "target MODE [FILE]".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "target" {
		target(os.Args[2], os.Args[3:])
	}
	os.Exit(m.Run())
}

// badTick is the tick in which targets go wrong.
const badTick = 37

// target serves the reference sim in a way that goes wrong somewhere.
func target(mode string, args []string) {
	sim := refsim.Simulator()
	switch mode {
	case "good":
		serve(sim)
	case "refuses":
		serve(failing(sim, func() error { return fmt.Errorf("no such map\n") }))
	case "crashes":
		serve(failing(sim, func() error { fmt.Fprintln(os.Stderr, "first line\nassertion failed: hp >= 0"); os.Exit(7); return nil }))
	case "hangs":
		serve(failing(sim, func() error { select {} }))
	case "crashes once":
		serve(failing(sim, func() error {
			if f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				f.Close()
				os.Exit(9)
			}
			return nil
		}))
	case "leaves a child":
		child := exec.Command("sleep", "1000")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(args[0], fmt.Appendf(nil, "%d", child.Process.Pid), 0o600); err != nil {
			panic(err)
		}
		serve(failing(sim, func() error { os.Exit(1); return nil }))
	case "stays":
		serve(sim)
		time.Sleep(time.Hour)
	case "exits badly":
		serve(sim)
		os.Exit(4)
	case "floods":
		for {
			fmt.Print("Engine 1.0 starting up, version of the renderer is unknown\n")
		}
	case "a word":
		fmt.Print("Hi")
	case "deaf":
		time.Sleep(time.Hour)
	case "greedy":
		raw(func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, 0xfffffff0) })
	case "short":
		raw(func(b []byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, 15<<20), 0x93) })
	case "garbage":
		raw(func(b []byte) []byte { return []byte{4, 0, 0, 0, 0x93, 0xc1, 0xc0, 0xc0} })
	case "huge array":
		raw(func(b []byte) []byte { return []byte{5, 0, 0, 0, 0xdd, 0xff, 0xff, 0xff, 0xff} })
	case "other id":
		raw(func(b []byte) []byte { return []byte{4, 0, 0, 0, 0x93, 0x63, 0xc0, 0x80} })
	case "other version":
		raw(func(b []byte) []byte {
			return append([]byte{14, 0, 0, 0, 0x93, 0x01, 0xc0, 0x81, 0xa8}, "protocol\x02"...)
		})
	case "nothing":
	default:
		panic(mode)
	}
	os.Exit(0)
}

func serve(sim *bisect.Sim) {
	conn, err := Connect(os.Stdin, os.Stdout)
	if err == nil {
		err = Serve(conn, sim, "test")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// raw answers every request with what answer returns.
func raw(answer func([]byte) []byte) {
	r := bufio.NewReader(os.Stdin)
	var buf bytes.Buffer
	for {
		b, err := readFrame(r, &buf, maxState)
		if err != nil {
			return
		}
		if _, err := os.Stdout.Write(answer(b)); err != nil {
			return
		}
	}
}

// failing returns the sim with something that happens in badTick.
func failing(sim *bisect.Sim, fail func() error) *bisect.Sim {
	wrap := func(s bisect.Simulator, err error) (bisect.Simulator, error) {
		if err != nil {
			return nil, err
		}
		return &failed{s, fail}, nil
	}
	out := *sim
	out.Can = []bisect.Capability{bisect.CanState, bisect.CanLoad}
	out.Start = func(h *orderlog.Header) (bisect.Simulator, error) { return wrap(sim.Start(h)) }
	return &out
}

type failed struct {
	bisect.Simulator
	fail func() error
}

func (f *failed) Step(orders []orderlog.Order) error {
	if f.Point() == badTick {
		if err := f.fail(); err != nil {
			return err
		}
	}
	return f.Simulator.Step(orders)
}

// targetCommand returns the command line of a target.
func targetCommand(t testing.TB, mode string, args ...string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{exe, "target", mode}, args...)
}

// recordedLog is the log of a healthy session of the reference sim.
func recordedLog(t testing.TB, ticks int) *orderlog.Log {
	t.Helper()
	return record(t, refsim.Config{Seed: 5, Entities: 200}, ticks)
}

func record(t testing.TB, config refsim.Config, ticks int) *orderlog.Log {
	t.Helper()
	sim, err := refsim.New(config)
	if err != nil {
		t.Fatal(err)
	}
	script := refsim.NewScript(config.Seed)
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{
		Seed: config.Seed, Peer: "p", Peers: []string{"p"}, Build: refsim.SimName,
		Kinds: refsim.OrderKinds(), Params: sim.Config().Params(), Start: sim.StateHash(),
	}}
	for range ticks {
		h := sim.SyncHash()
		tick := orderlog.Tick{Number: sim.Point(), Orders: script.Orders(sim), Hashes: []orderlog.Observed{{Point: sim.Point(), Kind: orderlog.SyncHash, Bytes: h[:]}}}
		if err := sim.Step(tick.Orders); err != nil {
			t.Fatal(err)
		}
		log.Ticks = append(log.Ticks, tick)
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	return log
}

// file returns the path of a file that is not there yet.
func file(t *testing.T, name string) string { return filepath.Join(t.TempDir(), name) }

var _ io.ReadWriteCloser = stdio{}
