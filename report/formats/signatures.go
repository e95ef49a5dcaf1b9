package formats

import (
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// OpenChain opens a chain of tick signatures, which may be compressed.
func OpenChain(tree files.Tree, path string) (*signatures.Reader, io.Closer, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, nil, err
	}
	content, _, err := compression.Unpack(f, 0)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	closer := closers{f}
	if c, ok := content.(io.Closer); ok {
		closer = closers{c, f}
	}
	r, err := signatures.NewReader(content, path)
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return r, closer, nil
}

// closers closes several things, in their order.
type closers []io.Closer

func (list closers) Close() (errs error) {
	for _, c := range list {
		errs = errors.Join(errs, c.Close())
	}
	return errs
}

// ReadChain verifies a chain and keeps what it signs.
func ReadChain(tree files.Tree, path string) (*signatures.Signed, error) {
	r, closer, err := OpenChain(tree, path)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return signatures.ReadSigned(r)
}

// verifyChain verifies a chain without keeping it.
func verifyChain(tree files.Tree, path string, want snapshot.Expected) (snapshot.Verified, error) {
	r, closer, err := OpenChain(tree, path)
	if err != nil {
		return snapshot.Verified{}, err
	}
	defer closer.Close()
	chain, err := signatures.Verify(r, signatures.Options{})
	if err != nil {
		return snapshot.Verified{}, err
	}
	return snapshot.VerifyChain(chain, path, want.Key), nil
}
