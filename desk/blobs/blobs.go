// Package blobs stores bundles by content: the name of a blob is the SHA-256 of its content. The same bundle is
// therefore stored only once, however often it arrives. Blobs are in a folder, which several machines may share, or in
// a bucket of an S3-compatible service.
//
// A blob is compressed with zstd. In a folder its path is ab/abcdef….zst, where ab is the first two digits of its name.
// In a bucket this is its key after the prefix. Any zstd program can unpack it, and sha256sum of the result is its
// name.
//
//	blobs/
//	    3f/3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea.zst
//	    incoming/5d0c3fa2b1.zst    being written, see [Open]
//
// The content is hashed while it is read. If it does not match the name, reading ends with [ErrDamaged] instead of
// io.EOF.
package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Store stores blobs. It is safe for concurrent use, and several processes and machines may use the same folder or
// bucket.
type Store interface {
	// Put stores the content of r, at most limit bytes; 0 means limits.File. When it returns, the blob is on stable
	// storage: the file and its folder are synced, or the service has confirmed it. Content that already exists is
	// stored once. It is written again only if it was last stored more than half a day ago, or has the wrong length. An
	// error of r is a *[ReadError], an error of the storage is not. More than limit bytes give an error that is
	// [ErrTooLarge]. After an error nothing is stored.
	Put(ctx context.Context, r io.Reader, limit int64) (Kept, error)

	// Open returns the content of a blob. The error is fs.ErrNotExist if it does not exist. Read returns [ErrDamaged]
	// if the content does not match the name, so the content is valid only after io.EOF.
	Open(ctx context.Context, hash string) (io.ReadCloser, error)

	// Delete removes a blob. It is not an error if it does not exist.
	Delete(ctx context.Context, hash string) error

	// DeleteBefore removes a blob that was last stored before t, by the storage's clock, and reports whether it is
	// gone. A blob that Put has stored since then stays.
	DeleteBefore(ctx context.Context, hash string, t time.Time) (gone bool, err error)

	// List returns all blobs in the order of their names. It skips files with other names. It ends at the first error.
	List(ctx context.Context) iter.Seq2[Info, error]
}

// Kept is the result of [Store.Put].
type Kept struct {
	Hash   string // SHA-256 of the content as given, in hex
	Bytes  int64  // of the content
	Stored int64  // bytes in the store
	New    bool   // it did not exist before; if two store it at the same time, both may report it as new
}

// Info describes a blob in [Store.List].
type Info struct {
	Hash   string
	Stored int64     // bytes in the store
	Kept   time.Time // time of the last write, by the storage's clock
}

// ErrDamaged reports that the content of a blob does not match its name.
var ErrDamaged = errors.New("the blob is damaged")

// ErrTooLarge reports that content is longer than allowed.
var ErrTooLarge = errors.New("larger than is allowed")

// ReadError is an error of the reader passed to [Store.Put]: the content did not arrive.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the reader's own error.
func (e *ReadError) Unwrap() error { return e.Err }

// settled is how long Put trusts that an existing blob stays. After that, Put writes it again, which also repairs
// damage. Unreferenced blobs are removed only if they were stored at least a day ago. This leaves half a day between a
// Put that wrote nothing and the row that references the blob.
const settled = 12 * time.Hour

// scheme begins the address of a bucket.
const scheme = "s3://"

// Open opens a store: a folder, which is created if needed, or
//
//	s3://bucket/prefix?endpoint=host:port&region=…&insecure=1
//
// Without an endpoint it uses AWS; insecure means http. The address never contains credentials. They come from
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the shared credentials file, or the machine's role. Opening a bucket
// does not use the network.
//
// Writers that were killed leave files in the subfolder incoming. Opening a folder removes such files if they are more
// than six hours old. A writer that takes longer gets an error from Put.
func Open(where string) (Store, error) {
	if strings.HasPrefix(where, scheme) {
		return openBucket(where)
	}
	return openFolder(where)
}

var hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// checkHash checks that a string is a name of a blob before it becomes part of a path.
func checkHash(hash string) error {
	if !hashForm.MatchString(hash) {
		return fmt.Errorf("%.80q is not a SHA-256: expected 64 hexadecimal digits in lower case", hash)
	}
	return nil
}

// suffix ends the names of blobs in a store.
const suffix = ".zst"

// key returns a blob's path below the root of its store.
func key(hash string) string { return hash[:2] + "/" + hash + suffix }

// hashOf returns the name of the blob at a key, or "" if it is not a blob's key.
func hashOf(at string) string {
	_, name, _ := strings.Cut(at, "/")
	hash, _ := strings.CutSuffix(name, suffix)
	if checkHash(hash) != nil || at != key(hash) {
		return ""
	}
	return hash
}

// missing returns the error for a blob that does not exist.
func missing(where, hash string) error {
	return fmt.Errorf("%s: bundle %s: %w", where, hash, fs.ErrNotExist)
}
