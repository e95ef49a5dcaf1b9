package desk

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/report/document"
)

// A document is stored as a byte for the kind of packing, followed by
//
//	1  a zstd frame of the JSON without indentation, with the dictionary 1
//
// The dictionary is document.dict. It never changes, because documents need it. zstd --train made it from the documents
// of everything in testdata, and of sessions of the reference game with each of its faults.
const packedJSON = 1

//go:embed document.dict
var dictionary []byte

// maxDocument is the maximum size of a document.
const maxDocument = 256 << 20

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are fixed
	}
	return e
})

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderDicts(dictionary), zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxDocument))
	if err != nil {
		panic(err)
	}
	return d
})

// pack returns a document in the stored form.
func pack(r *document.Report) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return packText(text)
}

// packText is pack for a document that is already JSON without line feeds.
func packText(text []byte) ([]byte, error) {
	if len(text) > maxDocument {
		return nil, fmt.Errorf("a document of %d bytes, expected at most %d", len(text), maxDocument)
	}
	return packer().EncodeAll(text, []byte{packedJSON}), nil
}

// unpackJSON returns the JSON of a stored document.
func unpackJSON(body []byte) ([]byte, error) {
	if len(body) == 0 || body[0] != packedJSON {
		return nil, fmt.Errorf("a document is damaged: expected one that begins with %d", packedJSON)
	}
	text, err := unpacker().DecodeAll(body[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("a document is damaged: %w", err)
	}
	return text, nil
}

// unpack decodes a stored document.
func unpack(body []byte) (*document.Report, error) {
	text, err := unpackJSON(body)
	if err != nil {
		return nil, err
	}
	return document.ReadReport(bytes.NewReader(text), "document")
}

// Document returns the triage's document for a match.
func (tx *Tx) Document(ctx context.Context, id int64) (*document.Report, error) {
	return readDocument(ctx, tx, id)
}

// Document returns the triage's document for a match by the number of its report, or sql.ErrNoRows.
func (s *Store) Document(ctx context.Context, id int64) (*document.Report, error) {
	return readDocument(ctx, s, id)
}

func readDocument(ctx context.Context, q reader, id int64) (*document.Report, error) {
	var body []byte
	if err := q.row(ctx, "document.get", []any{id}, &body); err != nil {
		return nil, fmt.Errorf("report %d: %w", id, err)
	}
	return unpack(body)
}
