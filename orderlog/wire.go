package orderlog

import "sync"

// encoders are kept, since making one costs more than a tick of orders.
var encoders = sync.Pool{New: func() any { return newEncoder() }}

// appendWith appends what encode writes to dst.
func appendWith(dst []byte, encode func(*encoder)) []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.out = dst
	encode(e)
	dst, e.out = e.out, nil
	return dst
}

// AppendHeader appends the array of a header, as the header's frame has it.
func AppendHeader(dst []byte, h *Header) []byte {
	return appendWith(dst, func(e *encoder) { e.header(h) })
}

// AppendOrders appends the array of a tick's orders, as the tick's frame has it.
func AppendOrders(dst []byte, orders []Order) []byte {
	return appendWith(dst, func(e *encoder) { e.orders(orders) })
}

// ParseHeader parses what AppendHeader appends, and checks it as a reader would.
func ParseHeader(b []byte) (*Header, error) {
	d := decoder{b: b}
	h := new(Header)
	if d.header(h); d.err != nil {
		return nil, d.err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	return h, nil
}

// ParseOrders appends the orders of a tick to dst, as AppendOrders appends them.
// Payloads are those of b.
func ParseOrders(dst []Order, b []byte, tick uint64) ([]Order, error) {
	d := decoder{b: b}
	dst = d.orders(dst, tick)
	d.finish()
	return dst, d.err
}
