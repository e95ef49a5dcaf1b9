package spring

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/desynctool/desynctool/orderlog"
)

// maxFields is how many values of a message are kept apart.
const ordersMaxFields = 256

// Fields splits a command to units: the unit, the command's number, its
// options and parameters. For other messages it returns nil.
func Fields(kind string, payload []byte) []orderlog.Field {
	d := fieldReader{b: payload}
	switch kind {
	case "ai command", "tracked ai command":
		d.skip(3) // type and size
		d.u8("player")
		d.u8("ai")
		d.u8("team")
		d.i16("unit")
		d.i32("command")
		d.i32("timeout")
		d.u8("options")
		if kind == "ai command" {
			d.params(d.count(0))
			break
		}
		n := d.count(4) // the AI's number is between them
		d.i32("number")
		d.params(n)
	case "command":
		d.skip(3)
		d.u8("player")
		d.i32("command")
		d.i32("timeout")
		d.u8("options")
		d.params(d.count(0))
	case "select":
		d.skip(3)
		d.u8("player")
		for i := 0; len(d.b) >= 2 && i < ordersMaxFields; i++ {
			d.i16(fmt.Sprintf("units[%d]", i))
		}
	default:
		return nil
	}
	if d.short {
		return nil
	}
	return d.out
}

// fieldReader takes values from the front of a message.
type fieldReader struct {
	b     []byte
	out   []orderlog.Field
	short bool
}

func (d *fieldReader) skip(n int) []byte {
	if len(d.b) < n {
		d.short, d.b = true, nil
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *fieldReader) add(name, value string) {
	d.out = append(d.out, orderlog.Field{Path: name, Value: value})
}

func (d *fieldReader) u8(name string) { d.add(name, strconv.Itoa(int(d.skip(1)[0]))) }

func (d *fieldReader) i16(name string) {
	d.add(name, strconv.Itoa(int(int16(binary.LittleEndian.Uint16(d.skip(2))))))
}

func (d *fieldReader) i32(name string) {
	d.add(name, strconv.Itoa(int(int32(binary.LittleEndian.Uint32(d.skip(4))))))
}

func (d *fieldReader) f32(name string) {
	v := math.Float32frombits(binary.LittleEndian.Uint32(d.skip(4)))
	d.add(name, strconv.FormatFloat(float64(v), 'g', -1, 32))
}

// params takes the parameters of a command.
func (d *fieldReader) params(n int) {
	for i := range n {
		d.f32(fmt.Sprintf("params[%d]", i))
	}
}

// count returns the number of parameters, which precedes them and some other bytes.
func (d *fieldReader) count(others int64) int {
	n := binary.LittleEndian.Uint32(d.skip(4))
	if int64(n)*4 != int64(len(d.b))-others {
		d.short = true
		return 0
	}
	return min(int(n), ordersMaxFields)
}
