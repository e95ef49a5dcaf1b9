package extsim

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Relay lets a target that is reached through function calls answer the requests of a connection, until the connection
// ends. The images of the target answer save and restore, if it has them. An error describes how the target or the
// connection ended.
func Relay(conn io.ReadWriter, target *Call) error {
	l := &relay{Call: target}
	r := bufio.NewReaderSize(conn, 64<<10)
	var buf bytes.Buffer
	for {
		request, err := readFrame(r, &buf, maxSave)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		frame, err := l.answer(request)
		if err != nil {
			return err
		}
		if _, err := conn.Write(frame); err != nil {
			return err
		}
	}
}

// relay passes requests on. It knows where the target is by the replies, since its images do not contain that.
type relay struct {
	*Call
	point uint64
	hash  merkle.Short

	in    values
	reply message
}

// answer returns the frame of the reply to a request.
func (l *relay) answer(request []byte) ([]byte, error) {
	if err := l.in.read(request); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	l.in.tuple(3, "request")
	id, method := l.in.uint("id"), l.in.str("method")
	if l.in.err != nil {
		return nil, fmt.Errorf("request: %w", l.in.err)
	}
	switch {
	case l.Image != nil && method == saveMethod:
		return l.save(id)
	case l.SetImage != nil && method == restoreMethod:
		return l.restore(id)
	}
	value, err := l.Do(request, 0)
	if err != nil {
		return nil, err
	}
	if method != helloMethod || l.Image == nil || !l.introduce(value) {
		l.reply.begin()
		l.reply.raw(value)
		l.follow(method, value)
	}
	return l.reply.frame(), nil
}

// open begins to read a reply, and reports whether it has a result.
func (l *relay) open(value []byte) (id uint64, ok bool) {
	if l.in.read(value) != nil {
		return 0, false
	}
	l.in.tuple(3, "reply")
	id = l.in.uint("id")
	return id, l.in.null("error")
}

// introduce writes the reply to hello with what the images make possible. It reports false for a reply that is passed
// on unchanged.
func (l *relay) introduce(value []byte) bool {
	id, ok := l.open(value)
	if !ok {
		return false
	}
	can, keys := []string{string(bisect.CanSave)}, 2
	var others message
	others.begin()
	for range l.in.mapping("hello") {
		switch key := l.in.str("key"); key {
		case "can":
			can = append(can, slices.DeleteFunc(l.in.strs(key), func(c string) bool { return c == string(bisect.CanSave) })...)
		case maxRestoreKey:
			l.in.skip(key)
		default:
			keys++
			others.str(key)
			others.raw(l.in.raw(key))
		}
		if l.in.err != nil {
			return false
		}
	}
	l.reply.accept(id)
	l.reply.mapping(keys)
	l.reply.raw(others.body())
	l.reply.str("can")
	l.reply.strs(can)
	l.reply.str(maxRestoreKey)
	l.reply.uint(maxSave)
	return l.in.err == nil
}

// follow learns from a reply where the target is. A reply that makes no sense is judged by the client.
func (l *relay) follow(method string, value []byte) {
	if !slices.Contains([]string{startMethod, loadMethod, restoreMethod, stepMethod, nextMethod, testMethod, predictMethod}, method) {
		return
	}
	if _, ok := l.open(value); !ok {
		return
	}
	point, hash := l.point, l.hash
	switch method {
	case startMethod, loadMethod, restoreMethod:
		l.in.tuple(2, "state point and hash")
		point, hash = l.in.uint("state point"), l.in.hash("hash")
	case stepMethod:
		hashes := l.in.bin("hashes")
		if n := len(hashes) / merkle.ShortSize; n > 0 {
			point += uint64(n)
			hash = merkle.Short(hashes[(n-1)*merkle.ShortSize:][:merkle.ShortSize])
		}
	case nextMethod:
		l.in.tuple(3, "result of next")
		l.in.skip("system")
		if more := l.in.bool("more"); !more {
			point++
		}
		hash = l.in.hash("hash")
	case testMethod:
		l.in.tuple(2, "result of test")
		l.in.skip("possible")
		hash = l.in.hash("hash")
	case predictMethod:
		hash = l.in.hash("hash")
	}
	if l.in.err == nil {
		l.point, l.hash = point, hash
	}
}

// saveHead is the size of the point and the hash before an image.
const saveHead = 8 + merkle.ShortSize

// appendSaveHead appends what a save has before an image.
func appendSaveHead(b []byte, point uint64, hash merkle.Short) []byte {
	return append(binary.LittleEndian.AppendUint64(b, point), hash[:]...)
}

// cutSaveHead takes a save apart.
func cutSaveHead(save []byte) (point uint64, hash merkle.Short, image []byte, err error) {
	if len(save) < saveHead {
		return 0, hash, nil, fmt.Errorf("a save of %d bytes, expected more", len(save))
	}
	return binary.LittleEndian.Uint64(save), merkle.Short(save[8:saveHead]), save[saveHead:], nil
}

// save answers with the image after the point and the hash.
func (l *relay) save(id uint64) ([]byte, error) {
	image, err := l.Image()
	if err != nil {
		return nil, err
	}
	l.reply.accept(id)
	_ = l.reply.enc.EncodeBytesLen(saveHead + len(image))
	l.reply.b = appendSaveHead(l.reply.b, l.point, l.hash)
	l.reply.raw(image)
	return l.reply.frame(), nil
}

func (l *relay) restore(id uint64) ([]byte, error) {
	l.in.tuple(1, "parameters")
	save := l.in.bin("save")
	if l.in.err != nil {
		return nil, fmt.Errorf("request: %w", l.in.err)
	}
	point, hash, image, err := cutSaveHead(save)
	if err == nil {
		err = l.SetImage(image)
	}
	if err != nil {
		l.reply.refuse(id, restoreMethod, err)
		return l.reply.frame(), nil
	}
	l.point, l.hash = point, hash
	l.reply.accept(id)
	l.reply.array(2)
	l.reply.uint(point)
	l.reply.bin(hash[:])
	return l.reply.frame(), nil
}
