package pseudonyms

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/signatures"
	"github.com/desynctool/desynctool/tracediff"
)

// rewriter writes a file in one of desynctool's own formats without names. why lists the names that stay.
type rewriter func(s *Scrubber, in files.File, name string, out io.Writer) (why string, err error)

// errKept is wrapped by errors of rewriters that explain why a file is copied unchanged.
var errKept = errors.New("kept as it is")

func kept(why string) error { return fmt.Errorf("%s: %w", why, errKept) }

// rewrite writes a file without names, if its format is desynctool's own. Otherwise the file is to be copied. In both
// cases why explains which names stay, "" if there can be none.
func (s *Scrubber) rewrite(in files.File, size int64, name string, out files.ScratchFile) (done bool, why string, err error) {
	head := make([]byte, min(size, 64))
	if n, err := in.ReadAt(head, 0); err != nil && err != io.EOF || n < len(head) {
		return false, "it cannot be read to its end: copied as it is", nil
	}
	packing := compression.Packing(head)
	if packing == "" {
		return s.rewritePlain(in, size, name, out)
	}
	content, _, err := compression.Unpack(io.NewSectionReader(in, 0, size), 0)
	if err != nil {
		return false, foreign, nil
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	begin := bufio.NewReaderSize(content, tracediff.SniffLen)
	if peeked, err := begin.Peek(tracediff.SniffLen); err == nil { // it is longer, so its first bytes decide
		if write, why := rewriterFor(peeked, name); write == nil {
			return false, why, nil
		}
	}
	plain := files.Scratch()
	defer plain.Close()
	n, err := io.Copy(plain, io.LimitReader(begin, limits.File.Max()+1))
	if err != nil || limits.File.Over(n) {
		return false, "it is compressed and damaged, or too large: copied as it is", nil
	}
	rewritten := files.Scratch()
	defer rewritten.Close()
	if done, why, err = s.rewritePlain(plain, n, name, rewritten); err != nil || !done {
		return false, why, err
	}
	stat, err := rewritten.Stat()
	if err != nil {
		return false, "", err
	}
	if err := repack(packing, io.NewSectionReader(rewritten, 0, stat.Size()), out); errors.Is(err, errKept) {
		return false, err.Error(), nil
	} else if err != nil {
		return false, "", err
	}
	return true, why, nil
}

// foreign explains why a file is copied.
const foreign = "its format is not ours: the names in it are kept as they are"

// repack compresses content in the original way.
func repack(packing string, in io.Reader, out io.Writer) (err error) {
	var w io.WriteCloser
	switch packing {
	case "gzip":
		w = gzip.NewWriter(out)
	case "zstd":
		w, err = zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	case "xz":
		w, err = xz.NewWriter(out)
	default:
		return kept("it is compressed with " + packing + ", which is not written here")
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return errors.Join(err, w.Close())
}

func (s *Scrubber) rewritePlain(in files.File, size int64, name string, out io.Writer) (done bool, why string, err error) {
	write, why, err := rewriterOf(in, size, name)
	if write == nil {
		return false, why, err
	}
	why, err = write(s, section{io.NewSectionReader(in, 0, size), in}, name, out)
	var bad *frame.Error
	switch {
	case err == nil:
		return true, why, nil
	case errors.As(err, &bad):
		return false, "it is damaged: the names in it are kept as they are", nil
	case errors.Is(err, errKept):
		return false, err.Error(), nil
	}
	return false, "", err
}

// section is a file from its beginning on.
type section struct {
	*io.SectionReader
	files.File
}

func (f section) Read(p []byte) (int, error)             { return f.SectionReader.Read(p) }
func (f section) ReadAt(p []byte, at int64) (int, error) { return f.SectionReader.ReadAt(p, at) }

// rewriterOf returns the rewriter for a file, nil if there is none; why then describes the content.
func rewriterOf(in io.ReaderAt, size int64, name string) (write rewriter, why string, err error) {
	head := make([]byte, min(size, tracediff.SniffLen))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, "", err
	}
	write, why = rewriterFor(head, name)
	return write, why, nil
}

// rewriterFor is rewriterOf for a file with these first bytes, which may be the whole file.
func rewriterFor(head []byte, name string) (write rewriter, why string) {
	base := filepath.Base(name)
	switch {
	case len(head) == 0:
		return nil, ""
	case strings.HasPrefix(base, "desync_report_") && strings.Contains(base, ".json"):
		return rewritePeerReport, ""
	case snapshot.IsSnap(head):
		return rewriteSnap, ""
	case signatures.IsChain(head):
		return nil, "a signature covers the name of the peer: kept, so that it can be verified"
	case orderlog.IsLog(head):
		return rewriteLog, ""
	case tracediff.Sniff(head) == tracediff.Binary:
		return rewriteTrace, ""
	}
	if f := formats.Recognize(name, head); f != nil && (f.Snapshot != nil || f.Log != nil || f.Trace != nil) || tracediff.Sniff(head) != tracediff.Pairs {
		return nil, foreign
	}
	return rewriteTextTrace, ""
}

// rewriteSnap replaces the peer and personal properties in a snapshot. The snapshot's root does not cover them.
func rewriteSnap(s *Scrubber, in files.File, name string, out io.Writer) (string, error) {
	stat, err := in.Stat()
	if err != nil {
		return "", err
	}
	f, err := snapshot.Open(in, stat.Size(), name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info := f.Info()
	if err := f.Rehead(out, s.name(info.Peer), s.properties(info.Meta)); err != nil {
		if errors.As(err, new(*frame.Error)) {
			return "", err
		}
		return "", kept(err.Error())
	}
	return "", nil
}

// properties replaces the values of properties about a person or a machine, and addresses.
func (s *Scrubber) properties(all map[string]string) map[string]string {
	if all == nil {
		return nil
	}
	out := map[string]string{}
	for name, value := range all {
		switch {
		case name == "recorded by", isPersonal(name):
			out[name] = s.personal(value)
		case isVersion(name):
			out[name] = value
		default:
			out[name] = s.inQuote(value, nil)
		}
	}
	return out
}

// rewriteLog replaces the header of an order log. The rest is copied, because input hashes cover the orders.
func rewriteLog(s *Scrubber, in files.File, name string, out io.Writer) (string, error) {
	r, err := orderlog.NewReader(io.NewSectionReader(in, 0, sizeOf(in)), name)
	if err != nil {
		return "", err
	}
	h := r.Header()
	h.Peer = s.name(h.Peer)
	h.Peers = append([]string(nil), h.Peers...)
	for i := range h.Peers {
		h.Peers[i] = s.name(h.Peers[i])
	}
	h.Params = s.properties(h.Params)
	var begin bytes.Buffer
	if _, err := orderlog.NewWriter(&begin, h, orderlog.WriterOptions{}); err != nil {
		return "", kept(err.Error())
	}
	return "the orders in it are kept as they are, messages of a chat among them: hashes cover them", swapHeader(in, begin.Bytes(), out)
}

// rewriteTrace replaces the header of a binary trace.
func rewriteTrace(s *Scrubber, in files.File, name string, out io.Writer) (string, error) {
	r, err := tracediff.NewReader(io.NewSectionReader(in, 0, sizeOf(in)), name, tracediff.ReadOptions{})
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := r.Header()
	h.Peer, h.Meta = s.name(h.Peer), s.properties(h.Meta)
	var begin bytes.Buffer
	if _, err := tracediff.NewWriter(&begin, h); err != nil {
		return "", kept(err.Error())
	}
	return "", swapHeader(in, begin.Bytes(), out)
}

// swapHeader copies a framed file with another header, its first frame. The preamble and all other data stay, even if
// torn or damaged.
func swapHeader(in files.File, begin []byte, out io.Writer) error {
	length, err := frame.FirstEnd(in)
	if err != nil {
		return err
	}
	preamble := make([]byte, frame.PreambleSize)
	if _, err := in.ReadAt(preamble, 0); err != nil {
		return err
	}
	if _, err := out.Write(append(preamble, begin[frame.PreambleSize:]...)); err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, length, sizeOf(in)-length))
	return err
}

func sizeOf(in files.File) int64 {
	stat, err := in.Stat()
	if err != nil {
		return 0
	}
	return stat.Size()
}

// rewriteTextTrace replaces names in the %peer and %meta lines at the start of a text trace. All other lines are
// copied.
func rewriteTextTrace(s *Scrubber, in files.File, name string, out io.Writer) (string, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	for begins := true; begins; {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			begins = false
		} else if err != nil && err != io.EOF {
			return "", err
		}
		text := string(line)
		if trimmed := strings.TrimLeft(text, "\ufeff"); begins && strings.HasPrefix(trimmed, "%") {
			text = s.headerLine(text)
		} else if begins && len(strings.TrimSpace(text)) > 0 && !strings.HasPrefix(text, "#") {
			begins = false
		}
		if _, err := io.WriteString(out, text); err != nil {
			return "", err
		}
		if err == io.EOF {
			return "", nil
		}
	}
	_, err := io.Copy(out, r)
	return "", err
}

// headerLine replaces the name in a header line of a text trace. A line that cannot be parsed stays.
func (s *Scrubber) headerLine(line string) string {
	end := line[len(strings.TrimRight(line, "\r\n")):]
	key, rest, _ := strings.Cut(strings.TrimSuffix(line, end), " ")
	switch key {
	case "%peer":
		if peer, err := strconv.Unquote(rest); err == nil {
			return key + " " + strconv.Quote(s.name(peer)) + end
		}
	case "%meta":
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return line
		}
		name, err := strconv.Unquote(quoted)
		value, err2 := strconv.Unquote(strings.TrimPrefix(rest[len(quoted):], " "))
		if err == nil && err2 == nil {
			return key + " " + quoted + " " + strconv.Quote(s.properties(map[string]string{name: value})[name]) + end
		}
	}
	return line
}

// rewritePeerReport replaces the peer in a peer's report and in the states that the report contains.
func rewritePeerReport(s *Scrubber, in files.File, name string, out io.Writer) (string, error) {
	r, err := peers.Read(in, name)
	if err != nil {
		return "", kept("it cannot be read")
	}
	r.Peer = s.name(r.Peer)
	for i := range r.Warnings {
		r.Warnings[i] = s.inQuote(r.Warnings[i], nil)
	}
	for i := range r.Archetypes {
		a := &r.Archetypes[i]
		b, err := base64.StdEncoding.DecodeString(a.World)
		if err != nil {
			return "", kept("a state in it cannot be read")
		}
		f, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), name)
		if err != nil {
			return "", kept("a state in it cannot be read")
		}
		var state bytes.Buffer
		info := f.Info()
		err = f.Rehead(&state, s.name(info.Peer), s.properties(info.Meta))
		f.Close()
		if err != nil {
			return "", kept("a state in it cannot be written")
		}
		a.World = base64.StdEncoding.EncodeToString(state.Bytes())
	}
	return "the orders in it are kept as they are, messages of a chat among them", document.WriteJSON(out, r)
}
