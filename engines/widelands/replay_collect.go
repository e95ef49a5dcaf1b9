package widelands

import (
	"bufio"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Lines that the game prints about a replay, after the stamp.
var (
	lostSync = lazyregexp.New(`^\[[\d:.]+ game\] ERROR: REPLAY: Lost synchronization at time (\d+)$`)
	own      = lazyregexp.New(`^\[[\d:.]+ game\] ERROR: I have: +([0-9a-f]{32})$`)
	theirs   = lazyregexp.New(`^\[[\d:.]+ game\] ERROR: Replay has: +([0-9a-f]{32})$`)
	ending   = lazyregexp.New(`^\[[\d:.]+ game\] ERROR: REPLAY: End of replay \(gametime: (\d+)\)$`)
	// closed is printed when the game puts a replay away: it shows an error that it prints nowhere, and waits.
	closed = lazyregexp.New(`^\[[\d:.]+ (?:game|real)\] INFO: lastserial: \d+$`)
	broken = lazyregexp.New(`^\[[\d:.]+ (?:game|real)\] ERROR: REPLAY: Caught exception (.*)$`)
)

// verdict is what the game printed about the hashes of a replay.
type verdict struct {
	differs  *confirmation // the first that the game does not confirm, with its own MD5
	recorded [16]byte      // of that
	ended    bool          // it reached the end
	closed   bool          // it put the replay away before that
	broken   string        // why it stopped reading
}

// readVerdict reads what the game printed.
func readVerdict(log string) (*verdict, error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v := new(verdict)
	lines := bufio.NewReader(f)
	for {
		text, isLong, err := lines.ReadLine()
		if err == io.EOF {
			return v, nil
		}
		if err != nil {
			return nil, err
		}
		if isLong {
			continue
		}
		line := string(text)
		if m := lostSync.FindStringSubmatch(line); m != nil && v.differs == nil {
			at, err := strconv.ParseUint(m[1], 10, 32)
			if err != nil {
				continue
			}
			v.differs = &confirmation{at: uint32(at)}
		} else if m := own.FindStringSubmatch(line); m != nil && v.differs != nil {
			hex.Decode(v.differs.md5[:], []byte(m[1]))
		} else if m := theirs.FindStringSubmatch(line); m != nil && v.differs != nil {
			hex.Decode(v.recorded[:], []byte(m[1]))
			return v, nil
		} else if ending.MatchString(line) {
			v.ended = true
			return v, nil
		} else if closed.MatchString(line) {
			v.closed = true
			return v, nil
		} else if m := broken.FindStringSubmatch(line); m != nil {
			v.broken = m[1]
			return v, nil
		}
	}
}

// collect leaves what the game computed.
func collect(ended *confine.Ended, rec *engine.Recording, asked []confirmation, dirs engine.Dirs) error {
	v, err := readVerdict(dirs.Log)
	if err != nil {
		return err
	}
	confirmed, err := v.confirmed(asked)
	if err != nil {
		if v.differs == nil {
			if e := engine.Ended(ended); e != nil {
				return e
			}
		}
		return err
	}
	file := filepath.Join(dirs.Out, played)
	at := uint32(0)
	if len(confirmed) > 0 {
		at = confirmed[len(confirmed)-1].at
	}
	if err := writeComputed(rec.File, file, at, v.differs); err != nil {
		return err
	}
	if len(confirmed) == 0 {
		return nil
	}
	return leaveStream(rec, confirmed[len(confirmed)-1], file+stream)
}

// confirmed returns the hashes that the game confirmed.
func (v *verdict) confirmed(asked []confirmation) ([]confirmation, error) {
	switch {
	case v.differs != nil:
		i := slices.IndexFunc(asked, func(h confirmation) bool { return h.at == v.differs.at })
		if i < 0 || asked[i].md5 != v.recorded || v.recorded == v.differs.md5 {
			return nil, &engine.Failure{Why: fmt.Sprintf("it speaks of a hash at %d that the replay does not have", v.differs.at)}
		}
		return asked[:i], nil
	case v.broken != "":
		return nil, &engine.Failure{Why: "it could not read the replay", Said: v.broken}
	case v.closed:
		return nil, &engine.Failure{Why: "it could not load the saved game that the replay begins with, or not go on from it"}
	case !v.ended:
		return nil, &engine.Failure{Why: "it ended before the replay did"}
	}
	return asked, nil
}

// stream is the suffix that follows the name of a replay in the name of the same peer's sync stream.
const stream = ".wss"

// leaveStream leaves the leading part of the peer's sync stream whose hash the game has confirmed, if the peer left its
// stream and that part has this hash.
func leaveStream(rec *engine.Recording, h confirmation, to string) error {
	name, file := beside(rec, stream)
	if file == "" {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	length, err := lengthAt(in, name, h.at)
	if err != nil || length == 0 {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := md5.New()
	if err := engine.WriteFile(to, func(w io.Writer) error {
		_, err := io.CopyN(io.MultiWriter(w, sum), in, length)
		return err
	}); err != nil {
		return err
	}
	if [16]byte(sum.Sum(nil)) != h.md5 {
		return os.Remove(to)
	}
	return nil
}

// lengthAt returns how many bytes of a sync stream the hash at a time is of, 0 if the stream does not reach
// it or is damaged before.
func lengthAt(in io.Reader, name string, at uint32) (int64, error) {
	s, err := NewStream(in, name)
	if err == nil && s.Excerpt() != nil {
		return 0, nil
	}
	for err == nil {
		var e *Entry
		if e, err = s.Next(); err == nil && e.Kind == RunQueue && e.Clock >= at {
			return e.Offset, nil
		}
	}
	var malformed *frame.Error
	if err == io.EOF || errors.As(err, &malformed) {
		return 0, nil
	}
	return 0, err
}
