package formats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/signatures"
	"github.com/desynctool/desynctool/tracediff"
)

// Dump writes the text twin of a file, which may be compressed: of a state, an
// order log or a trace, ours or an engine's, or the claims in an engine's log. Of
// a file that holds several states they follow each other.
func Dump(w io.Writer, r io.Reader, name string) error {
	content, packing, err := compression.Unpack(r, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	in := bufio.NewReaderSize(content, 1<<16)
	head, err := in.Peek(HeadLen)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", name, err)
	}
	head = bytes.Clone(head)
	f := Recognize(name, head)
	own := f != nil && f.Snapshot == nil && f.Log == nil && f.Trace == nil
	if kind := tracediff.Sniff(head); own && (kind == tracediff.Binary || kind == tracediff.Pairs) {
		trace, err := tracediff.NewReader(in, name, tracediff.ReadOptions{})
		if err != nil {
			return err
		}
		return tracediff.WriteText(w, trace)
	}
	msg := "empty file"
	switch {
	case f == nil && Written(head):
		return dumpWritten(w, in, name, head)
	case f == nil && len(head) > 0:
		text, err := io.ReadAll(io.LimitReader(in, NearestLen))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		msg = Unrecognized(name, text) + "; see desynctool formats"
	case f == nil:
	case f.Snapshot != nil:
		return dumpStates(w, f.Snapshot, r, in, packing, name)
	case f.Log != nil:
		log, err := f.Log(in, name)
		if err != nil {
			return err
		}
		return orderlog.WriteText(w, log)
	case f.Signatures:
		chain, err := signatures.NewReader(in, name)
		if err != nil {
			return err
		}
		return signatures.WriteText(w, chain)
	case f.Trace != nil && f.Trace.Read != nil:
		return dumpTrace(w, f.Trace, in, name)
	case f.Trace != nil:
		log, err := f.Trace.Claims(in, name)
		if err != nil {
			return err
		}
		return dumpClaims(w, log)
	default:
		msg = f.Title + ", which is text already"
	}
	return &frame.Error{Name: name, Msg: msg, Err: frame.ErrUnrecognized}
}

// dumpStates writes the states in a file one after the other.
func dumpStates(w io.Writer, f *snapshot.Format, r io.Reader, in *bufio.Reader, packing, name string) error {
	at, size, done, err := readerAt(r, in, packing)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer done()
	if f.Parts != nil {
		return snapshot.EachPart(at, size, name, f, func(s snapshot.State) error { return snapshot.WriteText(w, s) })
	}
	s, err := f.Open(at, size, name)
	if err != nil {
		return err
	}
	return errors.Join(snapshot.WriteText(w, s), s.Close())
}

// dumpTrace writes an engine's checkpoints. Of a file of several peers that must
// be read again for each, the first one's are written.
func dumpTrace(w io.Writer, f *tracediff.Format, in io.Reader, name string) error {
	if f.Peers == nil {
		source, err := f.Read(in, name, 0)
		if err != nil {
			return err
		}
		return tracediff.WriteSource(w, source)
	}
	all, err := io.ReadAll(io.LimitReader(in, maxShared+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(all) > maxShared {
		return fmt.Errorf("%s: content of more than %d bytes", name, maxShared)
	}
	peers, err := f.Peers(bytes.NewReader(all), name)
	if err != nil {
		return err
	}
	for i, peer := range peers {
		if peer == "" {
			continue
		}
		source, err := f.Read(bytes.NewReader(all), name, i)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "# peer %q\n", peer); err != nil {
			return err
		}
		if err := tracediff.WriteSource(w, source); err != nil {
			return err
		}
	}
	return nil
}

// maxShared is the size of the largest file of several peers' checkpoints that is
// dumped.
const maxShared = 256 << 20

// dumpClaims writes what an engine claims, one variable a line.
func dumpClaims(w io.Writer, log *tracediff.ClaimLog) error {
	out := bufio.NewWriter(w)
	for _, player := range slices.Sorted(maps.Keys(log.Start)) {
		for _, name := range slices.Sorted(maps.Keys(log.Start[player])) {
			fmt.Fprintf(out, "start[%q][%q] = %q\n", player, name, log.Start[player][name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(log.Facts)) {
		fmt.Fprintf(out, "fact[%q] = %q\n", name, log.Facts[name])
	}
	for i := range log.Claims {
		c := &log.Claims[i]
		prefix := fmt.Sprintf("claim[%d]", i)
		fmt.Fprintf(out, "%s.text = %q\n", prefix, c.Text)
		if c.HasTick {
			fmt.Fprintf(out, "%s.tick = %d\n", prefix, c.Tick)
		}
		if c.By != "" {
			fmt.Fprintf(out, "%s.by = %q\n", prefix, c.By)
		}
		if c.SelfTest {
			fmt.Fprintf(out, "%s.self_test = true\n", prefix)
		}
		if c.Quoted {
			fmt.Fprintf(out, "%s.quoted = true\n", prefix)
		}
		for k, peer := range c.Peers {
			fmt.Fprintf(out, "%s.accused[%d] = %q\n", prefix, k, peer)
		}
		for k, v := range c.Values {
			fmt.Fprintf(out, "%s.value[%d] = %q of %q\n", prefix, k, v.Value, v.Peer)
		}
	}
	if log.Trouble != "" {
		fmt.Fprintf(out, "# %s\n", log.Trouble)
	}
	return out.Flush()
}

// DumpJSON writes the text twin of a file as one JSON document, desynctool.dump/1: each line is an object with the name
// and the value of its variable. The value is the same text as in the twin. Comments are left out; a line that is not a
// variable, such as a checkpoint of a trace, has only a name.
func DumpJSON(w io.Writer, r io.Reader, name string) error {
	return TextJSON(w, func(w io.Writer) error { return Dump(w, r, name) })
}

// TextJSON is DumpJSON for any text twin, which dump writes.
func TextJSON(w io.Writer, dump func(w io.Writer) error) error {
	text, pipe := io.Pipe()
	go func() { pipe.CloseWithError(dump(pipe)) }()
	out := bufio.NewWriterSize(w, 1<<16)
	head := document.NewHead("dump", document.InSync, nil)
	fmt.Fprintf(out, "{\n  \"schema\": %q,\n  \"status\": %q,\n  \"warnings\": [],\n  \"variables\": [", head.Schema, head.Status)
	in := bufio.NewReaderSize(text, 1<<16)
	for n := 0; ; {
		line, err := in.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			if n++; n > 1 {
				out.WriteByte(',')
			}
			out.WriteString("\n    ")
			out.Write(variable(line))
		}
		if err == io.EOF {
			out.WriteString("\n  ]\n}\n")
			return out.Flush()
		}
		if err == nil && n%1024 == 0 {
			err = out.Flush()
		}
		if err != nil {
			text.CloseWithError(err)
			return err
		}
	}
}

// variable returns a line of a text twin as a JSON object.
func variable(line string) []byte {
	var v struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	}
	v.Name, v.Value, _ = strings.Cut(line, " = ")
	if directive, rest, ok := strings.Cut(line, " "); ok && line[0] == '%' {
		v.Name, v.Value = directive, rest
	}
	b, _ := json.Marshal(&v) // strings always can be
	return document.EscapeJSON(b)
}

// readerAt returns r for reading at any offset. The content of r begins with in. What is not a regular file, or is
// compressed, is copied to a temporary one, which done removes.
func readerAt(r, content io.Reader, packing string) (at io.ReaderAt, size int64, done func(), err error) {
	if f, ok := r.(files.File); ok && packing == "" {
		if stat, err := f.Stat(); err == nil && stat.Mode().IsRegular() {
			return keepOpen{f}, stat.Size(), func() {}, nil
		}
	}
	f, err := files.Temporary()
	if err != nil {
		return nil, 0, nil, err
	}
	done = func() { f.Close() }
	if size, err = io.Copy(f, io.LimitReader(content, maxSpooled)); err == nil && size == maxSpooled {
		err = fmt.Errorf("content of %d bytes or more; unpack it to a file first", int64(maxSpooled))
	}
	if err != nil {
		done()
		return nil, 0, nil, err
	}
	return keepOpen{f}, size, done, nil
}

// maxSpooled is the size in bytes of the largest state that is read from a
// pipe or a compressed file.
const maxSpooled = 4 << 30

// keepOpen hides that a file can be closed: its owner does that.
type keepOpen struct{ io.ReaderAt }

// Undump turns a text twin back into a file: an order log, a trace, a snapshot or a
// chain of tick signatures.
func Undump(w io.WriteSeeker, r io.Reader, name string) error {
	content, _, err := compression.Unpack(r, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	in := bufio.NewReaderSize(content, 1<<16)
	head, err := in.Peek(snapshot.SniffLen)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case orderlog.IsText(head):
		return orderlog.ParseText(w, in, name)
	case signatures.IsText(head):
		return signatures.ParseText(w, in, name)
	case snapshot.IsText(head):
		return snapshot.ReadText(w, in, name, snapshot.WriteOptions{})
	case tracediff.Sniff(head) == tracediff.Pairs:
		return tracediff.ParseText(w, in, name)
	}
	return &frame.Error{Name: name, Msg: "not the text twin of a snapshot, order log, trace or tick signatures", Err: frame.ErrUnrecognized}
}
