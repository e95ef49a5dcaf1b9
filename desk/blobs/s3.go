package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/desynctool/desynctool/internal/file/files"
)

const (
	attempts  = 5               // for a request without an answer, or with a failure of the service
	stalled   = time.Minute     // without data, after which a connection is closed
	roleWait  = 5 * time.Second // for the service that gives a machine its role
	mostAtOne = int64(5 << 30)  // maximum bytes of a single PUT in the documentation of S3
	amazon    = "s3.amazonaws.com"
)

// bucket is a store in an S3-compatible service. A blob is one PUT, never several parts. It is therefore visible as a
// whole or not at all, and a killed writer leaves nothing.
type bucket struct {
	where    string // without the part after the question mark
	endpoint string
	name     string
	prefix   string // empty, or with a slash at its end
	client   minio.Core
}

func openBucket(where string) (*bucket, error) {
	b, options, err := parseBucket(where)
	if err != nil {
		return nil, err
	}
	return b, b.connect(options, stalled)
}

// options are the options in an address.
type options struct {
	region   string
	insecure bool
}

// parseBucket reads the address of a bucket.
func parseBucket(where string) (*bucket, options, error) {
	var o options
	refuse := func(why string) (*bucket, options, error) {
		return nil, o, fmt.Errorf("the address of a bucket %s; expected s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION&insecure=1", why)
	}
	u, err := url.Parse(where)
	if err != nil {
		return refuse("cannot be read") // the error would repeat the address
	}
	if u.User != nil {
		return refuse("has credentials in it, which belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if u.Host == "" || u.Port() != "" || u.Fragment != "" {
		return refuse("names no bucket, or more than one")
	}
	b := &bucket{name: u.Host, endpoint: amazon}
	if b.prefix = strings.Trim(u.Path, "/"); b.prefix != "" {
		if !fs.ValidPath(b.prefix) {
			return refuse(fmt.Sprintf("has the prefix %q", b.prefix))
		}
		b.prefix += "/"
	}
	b.where = scheme + b.name + "/" + b.prefix
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return refuse("has something unreadable after its question mark")
	}
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "endpoint":
			if value == "" || strings.ContainsAny(value, "/@?# ") {
				return refuse(fmt.Sprintf("has the endpoint %q", value))
			}
			b.endpoint = value
		case "region":
			o.region = value
		case "insecure":
			if o.insecure, err = strconv.ParseBool(value); err != nil {
				return refuse(fmt.Sprintf("has insecure=%q, which is neither 0 nor 1", value))
			}
		default:
			return refuse(fmt.Sprintf("has %q, which is not known", name))
		}
	}
	return b, o, nil
}

// connect creates the client.
func (b *bucket) connect(o options, stalled time.Duration) error {
	transport, err := minio.DefaultTransport(!o.insecure)
	if err != nil {
		return err
	}
	dialer := &net.Dialer{Timeout: min(stalled, 30*time.Second)}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c, stalled: stalled}, nil
	}
	if o.region == "" {
		o.region = firstOf("AWS_REGION", "AWS_DEFAULT_REGION")
	}
	chain := &credentials.Chain{Providers: []credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: roleWait}},
	}}
	client, err := minio.NewCore(b.endpoint, &minio.Options{
		Creds: credentials.New(required{chain}), Secure: !o.insecure, Region: o.region, Transport: transport, MaxRetries: attempts,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", b.where, err)
	}
	b.client = *client
	return nil
}

func firstOf(variables ...string) string {
	for _, v := range variables {
		if value := os.Getenv(v); value != "" {
			return value
		}
	}
	return ""
}

var errNoCredentials = errors.New("no credentials: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set, nor does the shared credentials file or a role of this machine give any")

// required wraps credentials. Without credentials, no request is sent.
type required struct{ *credentials.Chain }

func (r required) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	return check(r.Chain.RetrieveWithCredContext(cc))
}

func (r required) Retrieve() (credentials.Value, error) {
	return r.RetrieveWithCredContext(&credentials.CredContext{Client: http.DefaultClient})
}

func check(v credentials.Value, err error) (credentials.Value, error) {
	if err == nil && v.AccessKeyID == "" {
		err = errNoCredentials
	}
	return v, err
}

// conn is a connection that ends when no data has moved for some time.
type conn struct {
	net.Conn
	stalled time.Duration
}

func (c *conn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.stalled))
	return c.Conn.Read(p)
}

// Write also extends the deadline of a read that waits for the answer.
func (c *conn) Write(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.stalled))
	return c.Conn.Write(p)
}

// Put implements Store. The compressed data waits in a temporary file, because the key is known only when everything is
// read.
func (b *bucket) Put(ctx context.Context, r io.Reader, limit int64) (Kept, error) {
	file, err := files.Temporary()
	if err != nil {
		return Kept{}, err
	}
	defer file.Close()
	k, err := pour(ctx, file, r, limit)
	if err != nil {
		return Kept{}, err
	}
	if k.Stored > mostAtOne {
		return Kept{}, fmt.Errorf("%s: bundle %s has %d bytes compressed, at most %d can be kept in a bucket: %w", b.where, k.Hash, k.Stored, mostAtOne, ErrTooLarge)
	}
	at := b.prefix + key(k.Hash)
	old, err := b.client.StatObject(ctx, b.name, at, minio.StatObjectOptions{})
	if err == nil && old.Size == k.Stored && time.Since(old.LastModified) < settled {
		return k, nil
	}
	k.New = err != nil
	// A client that may write but not read learns nothing from the answer, and writes.
	err = b.upload(ctx, at, file, k.Stored)
	if err != nil {
		return Kept{}, b.explain(ctx, k.Hash, err)
	}
	return k, nil
}

// upload puts an object, and retries if the service was overloaded or a connection ended. Each try has its own reader:
// minio-go would use one for all, and the previous try may still read it. The reader cannot seek, which prevents
// minio-go from retrying itself.
func (b *bucket) upload(ctx context.Context, at string, content io.ReaderAt, size int64) error {
	for try := 1; ; try++ {
		in := struct{ io.Reader }{io.NewSectionReader(content, 0, size)}
		_, err := b.client.Client.PutObject(ctx, b.name, at, in, size, minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/zstd"})
		if err == nil || try == attempts || !again(err) {
			return err
		}
		select {
		case <-time.After(minio.DefaultRetryUnit << try):
		case <-ctx.Done():
			return err
		}
	}
}

// again reports whether a retry may succeed after an error.
func again(err error) bool {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		return answer.StatusCode >= 500 || answer.StatusCode == http.StatusRequestTimeout || answer.StatusCode == http.StatusTooManyRequests
	}
	return !errors.Is(err, errNoCredentials)
}

// Open implements Store.
func (b *bucket) Open(ctx context.Context, hash string) (io.ReadCloser, error) {
	if err := checkHash(hash); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	d := &download{bucket: b, ctx: ctx, cancel: cancel, hash: hash}
	if err := d.request(); err != nil {
		cancel()
		return nil, err
	}
	return newContent(b.where, hash, d)
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, hash string) error {
	if err := checkHash(hash); err != nil {
		return err
	}
	err := b.client.RemoveObject(ctx, b.name, b.prefix+key(hash), minio.RemoveObjectOptions{})
	if err = b.explain(ctx, hash, err); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// DeleteBefore implements Store.
func (b *bucket) DeleteBefore(ctx context.Context, hash string, t time.Time) (gone bool, err error) {
	if err := checkHash(hash); err != nil {
		return false, err
	}
	stat, err := b.client.StatObject(ctx, b.name, b.prefix+key(hash), minio.StatObjectOptions{})
	err = b.explain(ctx, hash, err)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !stat.LastModified.Before(t) {
		return false, err
	}
	err = b.Delete(ctx, hash)
	return err == nil, err
}

// List implements Store.
func (b *bucket) List(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Info{}, b.explain(ctx, "", o.Err))
				return
			}
			hash := hashOf(strings.TrimPrefix(o.Key, b.prefix))
			if hash != "" && !yield(Info{Hash: hash, Stored: o.Size, Kept: o.LastModified}, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(Info{}, context.Cause(ctx))
		}
	}
}

// explain turns an error of a service, or of the connection to it, into one line. The error is about one blob or all.
func (b *bucket) explain(ctx context.Context, hash string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	about := b.where
	if hash != "" {
		about += ": bundle " + hash
	}
	var answer minio.ErrorResponse
	var way *url.Error
	switch {
	case errors.Is(err, errNoCredentials):
		return fmt.Errorf("%s: %w", b.where, err)
	case errors.As(err, &answer):
		said := fmt.Sprintf("%.200q, %s", answer.Error(), answer.Code)
		switch answer.Code {
		case minio.NoSuchBucket:
			return fmt.Errorf("%s: %s has no bucket %s", b.where, b.endpoint, b.name)
		case minio.NoSuchKey:
			return missing(b.where, hash)
		case minio.AccessDenied, minio.InvalidAccessKeyID, "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
			return fmt.Errorf("%s: %s refuses these credentials: %s", about, b.endpoint, said)
		}
		return fmt.Errorf("%s: %s answers with status %d: %s", about, b.endpoint, answer.StatusCode, said)
	case errors.As(err, &way):
		return fmt.Errorf("%s: %s cannot be reached: %w", about, b.endpoint, way.Err)
	}
	return fmt.Errorf("%s: %w", about, err)
}

// download reads a blob. If a connection ends too early, it requests the rest.
type download struct {
	*bucket
	ctx    context.Context
	cancel context.CancelFunc
	hash   string
	etag   string
	body   io.ReadCloser // nil between two requests
	at     int64
	size   int64
	broken int // connections that ended too early
}

func (d *download) request() error {
	o := minio.GetObjectOptions{}
	if d.at > 0 {
		if err := errors.Join(o.SetRange(d.at, 0), o.SetMatchETag(d.etag)); err != nil {
			return err
		}
	}
	body, info, _, err := d.client.GetObject(d.ctx, d.name, d.prefix+key(d.hash), o)
	if err != nil {
		return d.explain(d.ctx, d.hash, err)
	}
	if d.at == 0 {
		d.etag, d.size = info.ETag, info.Size
	}
	d.body = body
	return nil
}

func (d *download) Read(p []byte) (int, error) {
	for {
		if d.at == d.size {
			return 0, io.EOF
		}
		if d.body == nil {
			if err := d.request(); err != nil {
				return 0, err
			}
		}
		n, err := d.body.Read(p[:min(int64(len(p)), d.size-d.at)])
		d.at += int64(n)
		if err != nil && d.at < d.size {
			d.body.Close()
			d.body = nil
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if d.broken++; d.broken == attempts || d.ctx.Err() != nil {
				return n, d.explain(d.ctx, d.hash, fmt.Errorf("the connection to %s ended %d times, at byte %d of %d: %w", d.endpoint, d.broken, d.at, d.size, err))
			}
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
}

func (d *download) Close() error {
	d.cancel()
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}
