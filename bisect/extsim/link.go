package extsim

import "time"

// link is a connection to one running target.
type link interface {
	// call sends the frame of a request and returns the value of its reply, which is
	// good until the next call. An error is a *BrokenError; the target is gone then.
	call(frame []byte, limit uint32, timeout time.Duration) ([]byte, error)
	// broken makes an error of what a target did wrong, and ends the target.
	broken(msg string) error
	close() error
}

// imager is a link that can save and restore the state of its target by itself.
type imager interface {
	// hasImage reports whether it can.
	hasImage() bool
	image() ([]byte, error)
	setImage(image []byte) error
}
