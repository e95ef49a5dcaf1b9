package orderlog

import "sync"

// encoders is a pool, because creating an encoder costs more than encoding a tick of orders.
var encoders = sync.Pool{New: func() any { return newEncoder() }}

// appendWith appends the output of encode to dst.
func appendWith(dst []byte, encode func(*encoder)) []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.out = dst
	encode(e)
	dst, e.out = e.out, nil
	return dst
}

// AppendHeader appends a header as the MessagePack array in the header's frame.
func AppendHeader(dst []byte, h *Header) []byte {
	return appendWith(dst, func(e *encoder) { e.header(h) })
}

// AppendOrders appends a tick's orders as the MessagePack array in the tick's frame.
func AppendOrders(dst []byte, orders []Order) []byte {
	return appendWith(dst, func(e *encoder) { e.orders(orders) })
}

// ParseHeader parses the output of AppendHeader and makes the same checks as a reader.
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

// ParseOrders parses the output of AppendOrders and appends the orders to dst. Payloads point into b.
func ParseOrders(dst []Order, b []byte, tick uint64) ([]Order, error) {
	d := decoder{b: b}
	dst = d.orders(dst, tick)
	d.finish()
	return dst, d.err
}
