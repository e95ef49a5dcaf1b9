package minimize

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/desynctool/desynctool/internal/file/files"
)

// judged is the result of all runs of one candidate.
type judged struct {
	Key   string `json:"key"`
	Whole bool   `json:"whole"` // it was played from its start
	// Runs counts those with a verdict, Hits those that diverged in the same way.
	Runs    int     `json:"runs"`
	Hits    int     `json:"hits"`
	Point   *uint64 `json:"point,omitempty"` // the last one of all hits
	Replays int     `json:"replays"`
	Ticks   uint64  `json:"ticks"`
	Why     string  `json:"why,omitempty"`
	// Signature is how the whole input diverges.
	Signature *Signature `json:"signature,omitempty"`
}

// Outcomes has the outcomes of all tested candidates, by their content. The zero value keeps them in memory.
type Outcomes struct {
	mu   sync.Mutex
	list map[Key]*judged
	file *os.File
	id   string
}

// outcomesHead is the first line of a file of outcomes.
type outcomesHead struct {
	Schema string `json:"schema"`
	// Search identifies the input, the test and how often it is run.
	Search string `json:"search"`
}

const outcomesSchema = "desynctool.minimize-outcomes/1"

// ErrOtherSearch means that a file of outcomes belongs to another search.
var ErrOtherSearch = errors.New("outcomes of another session, or of another test")

// OpenOutcomes opens the outcomes that a search keeps at path, or begins them. A last line
// that was cut off is left out.
func OpenOutcomes(path string, in *Input, test Test, opts Options) (*Outcomes, error) {
	digest := in.digest()
	id := sha256.Sum256(fmt.Appendf(nil, "%x %d %s", digest, max(opts.Runs, 1), test.Name()))
	o := &Outcomes{id: hex.EncodeToString(id[:16])}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	var end int64
	if err = files.Lock(f); err == nil {
		end, err = o.read(f)
	}
	if err == nil {
		if err = f.Truncate(end); err == nil {
			_, err = f.Seek(end, io.SeekStart)
		}
	}
	if o.file = f; err == nil && end == 0 {
		err = o.line(outcomesHead{outcomesSchema, o.id})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return o, nil
}

// read reads what was kept and returns the offset after the last whole line.
func (o *Outcomes) read(f *os.File) (end int64, err error) {
	o.list = map[Key]*judged{}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return end, nil // a line without an end was not finished
		}
		if err != nil {
			return 0, err
		}
		if end == 0 {
			var head outcomesHead
			if json.Unmarshal(line, &head) != nil || head.Schema != outcomesSchema || head.Search != o.id {
				return 0, ErrOtherSearch
			}
		} else {
			j := new(judged)
			if json.Unmarshal(line, j) != nil {
				return end, nil
			}
			key, err := hex.DecodeString(j.Key)
			if err != nil || len(key) != len(Key{}) {
				return end, nil
			}
			o.list[Key(key)] = j
		}
		end += int64(len(line))
	}
}

// get returns what is known of a candidate, nil if nothing is.
func (o *Outcomes) get(k Key) *judged {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.list[k]
}

// add keeps what became known of a candidate.
func (o *Outcomes) add(k Key, j *judged) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil {
		o.list = map[Key]*judged{}
	}
	o.list[k] = j
	if o.file == nil {
		return nil
	}
	j.Key = hex.EncodeToString(k[:])
	return o.line(j)
}

func (o *Outcomes) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = o.file.Write(append(b, '\n'))
	return err
}

// Close closes the file.
func (o *Outcomes) Close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
