// Package blobs keeps bundles by what is in them: the name of a blob is the SHA-256 of its content, so
// that the same bundle is kept once however often it comes. Blobs lie in a folder, which several
// machines may share, or in a bucket of a service that speaks the protocol of S3.
//
// A blob is compressed with zstd. In a folder its path is ab/abcdef….zst, ab being the first two digits
// of its name; in a bucket that is its key after the prefix. Any zstd unpacks it, and sha256sum of that
// is its name.
//
//	blobs/
//	    3f/3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea.zst
//	    incoming/5d0c3fa2b1.zst    being written, see [Open]
//
// Nothing that is read from a store is believed: the content is hashed while it is read, and what does
// not fit its name ends with [ErrDamaged] in place of io.EOF.
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

// Store keeps blobs. It may be used by several goroutines at once, and several processes and machines
// may use the same folder or bucket.
type Store interface {
	// Put keeps what r has, at most limit bytes; 0 means limits.File. When it returns, the blob is on
	// stable storage: the file and its folder are synced, or the service has answered. Content that is
	// there already is kept once, and is written anew only if it was last kept more than half a day ago
	// or is not as long as it should be. An error of r is a *[ReadError], one of the storage is not; more
	// than limit bytes are an error that is [ErrTooLarge]. After an error nothing is kept.
	Put(ctx context.Context, r io.Reader, limit int64) (Kept, error)

	// Open returns the content of a blob. The error is fs.ErrNotExist if it is not there. Read returns
	// [ErrDamaged] where the content is not what the name says: only who has met io.EOF has the content.
	Open(ctx context.Context, hash string) (io.ReadCloser, error)

	// Delete removes a blob. It is not an error if it is not there.
	Delete(ctx context.Context, hash string) error

	// DeleteBefore removes a blob that was last kept before some time, by the clock of the storage, and says whether
	// it is gone: one that Put has kept since stays.
	DeleteBefore(ctx context.Context, hash string, t time.Time) (gone bool, err error)

	// List returns all blobs, in the order of their names. What has another name than a blob is left out.
	// It ends with the first error.
	List(ctx context.Context) iter.Seq2[Info, error]
}

// Kept is what [Store.Put] has done.
type Kept struct {
	Hash   string // SHA-256 of the content as it was given, in hex
	Bytes  int64  // of the content
	Stored int64  // bytes that it takes in the store
	New    bool   // it was not there before; of two that put it at the same time both may say so
}

// Info is a blob as [Store.List] sees it.
type Info struct {
	Hash   string
	Stored int64     // bytes that it takes in the store
	Kept   time.Time // when it was last written, by the clock of the storage
}

// ErrDamaged says that a blob does not have the content that its name stands for.
var ErrDamaged = errors.New("the blob is damaged")

// ErrTooLarge says that content is longer than was allowed.
var ErrTooLarge = errors.New("larger than is allowed")

// ReadError is an error of the reader that [Store.Put] was given: what was to be kept did not arrive.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the reader's own error.
func (e *ReadError) Unwrap() error { return e.Err }

// settled is for how long Put takes a blob for one that is there for good. After that Put writes it anew,
// which heals what was damaged meanwhile. Whoever removes blobs that nobody knows of leaves those alone that
// were kept less than a day ago: there is then half a day between a Put that wrote nothing and the
// note of who needs the blob.
const settled = 12 * time.Hour

// scheme is how the address of a bucket begins.
const scheme = "s3://"

// Open opens a store: a folder, which is made if it is not there, or
//
//	s3://bucket/prefix?endpoint=host:port&region=…&insecure=1
//
// Without an endpoint that is AWS; insecure asks for http. Credentials are never in the address: they are those of
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, of the shared credentials file, or of the machine's role. Opening a
// bucket does not reach for the network.
//
// What writers that were killed have left in a folder, in incoming, is removed when the folder is opened and they
// are more than six hours old. A writer that is as slow as that gets an error from Put.
func Open(where string) (Store, error) {
	if strings.HasPrefix(where, scheme) {
		return openBucket(where)
	}
	return openFolder(where)
}

var hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// checkHash refuses what is not a name of a blob, before it becomes part of a path.
func checkHash(hash string) error {
	if !hashForm.MatchString(hash) {
		return fmt.Errorf("%.80q is not a SHA-256: expected 64 hexadecimal digits in lower case", hash)
	}
	return nil
}

// suffix is how the names of blobs in a store end.
const suffix = ".zst"

// key returns where a blob lies below the top of its store.
func key(hash string) string { return hash[:2] + "/" + hash + suffix }

// hashOf returns the name of the blob that lies at a key, "" if none does.
func hashOf(at string) string {
	_, name, _ := strings.Cut(at, "/")
	hash, _ := strings.CutSuffix(name, suffix)
	if checkHash(hash) != nil || at != key(hash) {
		return ""
	}
	return hash
}

// missing is the error of a blob that is not there.
func missing(where, hash string) error {
	return fmt.Errorf("%s: bundle %s: %w", where, hash, fs.ErrNotExist)
}
