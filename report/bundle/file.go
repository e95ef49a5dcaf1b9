package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// File is a file below the paths, except files that are states by their names.
type File struct {
	Path   string
	Size   int64
	Format *engine.Format // nil if the format is not known
	Err    error          // why its first bytes could not be read, nil if they could

	names   *naming // how peers are called
	place   *place  // the place whose folder contains it, nil if it is next to the peers' folders
	given   bool    // it is one of the paths
	pairs   bool    // it begins like one of our traces, binary or text
	table   bool    // it is named as a table, and begins like one of checksums
	columns bool    // it begins like a table of long checksums, whatever it is called
	other   bool    // not a regular file
	packed  bool    // it is compressed
	text    bool    // it is a text
	sqlite  bool    // it is a database of SQLite
	single  bool    // no other text is among the files, or none of them is evidence: quoted messages in it count
	ownLog  bool    // it is a log that a game writes for its developers

	read    *LogRead            // as an order log, once it was
	opened  *opened             // as traces, once it was
	claims  *tracediff.ClaimLog // of a log of any program, once scanned
	scanned bool
	quotes  bool                           // it has claims that are not among them, since somebody quotes them
	each    map[string]*tracediff.ClaimLog // by the format's name, from the same reading
	gameLog *gamelog.Log                   // as a game's own log, once it was
	chain   *chained                       // as a chain of signatures, once it was
}

// recognise finds out what a file of the session is by its first bytes.
func (s *Session) recognise(path string) *File {
	f := recognise(s.tree, path, s.list, s.gameLog)
	f.names = s.names
	return f
}

// recognise finds out what a file is by its first bytes. Own is what the game's logs have, nil if that is not described.
func recognise(tree files.Tree, path string, list []engine.Format, own *engine.Log) *File {
	f := &File{Path: path}
	stat, err := tree.Stat(path)
	if err != nil {
		f.Err = err
		return f
	}
	if f.other = !stat.Mode().IsRegular(); f.other {
		return f
	}
	f.Size = stat.Size()
	head, packing, err := formats.Begin(tree, path)
	if err == nil || len(head) > 0 {
		f.Format = formats.Among(list, path, head)
	}
	if err != nil && f.Format == nil { // else the next reader of the file reports it
		f.Err = err
		return f
	}
	f.packed = packing != ""
	if f.Format != nil && f.Format.Trace == nil && f.Format.Snapshot == nil && f.Format.Log == nil {
		kind := tracediff.Sniff(head)
		f.pairs = kind == tracediff.Binary || kind == tracediff.Pairs
	}
	surveyed := f.Format != nil && f.Format.Paths != nil
	if !surveyed {
		f.table, f.columns = formats.Table(path, head)
	}
	f.text = f.Size > 0 && gamelog.Text(head)
	f.sqlite = bytes.HasPrefix(head, []byte("SQLite format 3\x00"))
	f.ownLog = f.isGameLog(head, own)
	return f
}

// ext returns the extension of the file's name without the suffix of the compression.
func (f *File) ext() string { return filepath.Ext(compression.PlainName(f.Path)) }

// IsLog reports whether it is an order log.
func (f *File) IsLog() bool { return f.Format != nil && f.Format.Log != nil }

// ownTrace reports whether it is one of our traces, by its name, or by its content if no file next to it has such a
// name.
func (f *File) ownTrace() bool {
	return f.namedTrace() || f.pairs && (f.place == nil || !slices.ContainsFunc(f.place.files, (*File).namedTrace))
}

func (f *File) namedTrace() bool { return f.ext() == ".trace" && !f.isOwnLog() }

// engineTrace reports whether it contains an engine's checkpoints or claims.
func (f *File) engineTrace() bool { return f.Format != nil && f.Format.Trace != nil }

// isOwnLog reports whether it is one of our order logs.
func (f *File) isOwnLog() bool { return f.IsLog() && f.Format.Native }

// isState reports whether it contains a state.
func (f *File) isState() bool { return f.Format != nil && f.Format.Snapshot != nil }

// isTracedState reports whether it contains one state that also serves as checkpoints. A file of several states records
// its checkpoints separately.
func (f *File) isTracedState() bool {
	return f.isState() && f.Format.Snapshot.Parts == nil && f.Format.Trace != nil && f.Format.Trace.Read != nil
}

// isReport reports whether it is a report that a peer wrote, by its name.
func (f *File) isReport() bool {
	base := filepath.Base(f.Path)
	return strings.HasPrefix(base, "desync_report_") && strings.Contains(base, ".json")
}

// log returns the claims anywhere in a log of an unknown program, nil if there are none. The file is read once.
func (f *File) log(tree files.Tree) *tracediff.ClaimLog {
	if f.scanned || f.Format != nil && !f.stateless(tree) || f.Err != nil || !f.speaks() {
		return f.claims
	}
	f.claims, _ = f.scan(tree, tracediff.ReadOptions{})
	return f.claims
}

// maxStateless is the size of a text that its engine writes in place of a state, at most.
const maxStateless = 4096

// stateless reports whether it is an engine's text about a state that the engine no longer had, which is a message.
func (f *File) stateless(tree files.Tree) bool {
	if !f.isState() || f.Format.Native || !f.text || f.Size > maxStateless {
		return false
	}
	sets, err := snapshot.Find(tree, f.Path, []snapshot.Format{*f.Format.Snapshot})
	for i := 0; err == nil && i < len(sets); i++ {
		for _, e := range sets[i].Entries {
			state, opened := e.Open()
			if state != nil {
				state.Close()
			}
			err = cmp.Or(err, opened)
		}
	}
	return errors.Is(err, frame.ErrLacking)
}

// speaks reports whether a file without a known format may contain messages of a program: a log, any given text, and
// other texts, except texts that people write next to their files and pages that games write for their developers.
func (f *File) speaks() bool {
	ext := strings.ToLower(f.ext())
	return ext == ".log" || ext == ".txt" || f.text && (f.given || !f.ownLog && (!slices.Contains(written, ext) || f.single && slices.Contains(documents, ext)))
}

// documents are the name ends of texts for people, written the name ends of documents, programs and settings.
var documents = []string{".md", ".markdown", ".rst", ".adoc"}

var written = append(slices.Clone(documents),
	".toml", ".ini", ".cfg", ".conf", ".yml", ".yaml", ".sh", ".bat", ".ps1",
	".go", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".py", ".lua", ".js", ".ts", ".java", ".kt", ".gd",
)

func (f *File) scan(tree files.Tree, opts tracediff.ReadOptions) (*tracediff.ClaimLog, error) {
	if f.scanned {
		return f.claims, nil
	}
	f.scanned = true
	log, each, err := formats.ReadMessages(tree, f.Path, opts)
	if err != nil {
		return nil, err
	}
	if log.Dialect.Engine == "" && !f.given && !f.single { // several texts may be about one log
		n := len(log.Claims)
		log.Claims = slices.DeleteFunc(log.Claims, func(c tracediff.Claim) bool { return c.Quoted })
		f.quotes = len(log.Claims) < n
	}
	if len(log.Claims) == 0 {
		return nil, nil
	}
	f.names.messages(log, each)
	f.each = each
	f.claims = log
	return log, nil
}

// hasTrace reports whether there are checkpoints or claims in the file.
func (f *File) hasTrace(tree files.Tree) bool {
	return f.ownTrace() || f.engineTrace() || f.table || f.log(tree) != nil
}

// ofOnePeer reports whether the file comes from one peer: a state, an order log, a trace. A chain of signatures does
// not count, since peers may keep others' chains. Neither does a file with data of several peers, or with lines that
// may be in any log.
func (f *File) ofOnePeer() bool {
	switch {
	case f.ownTrace():
		return true
	case f.Format == nil:
		return f.Err == nil && !f.other && ofOnePeer(f.Path)
	case f.Format.Shared:
		return false
	}
	t := f.Format.Trace
	return f.Format.Snapshot != nil && !f.Format.Snapshot.NamesPeer ||
		f.Format.Log != nil && (t == nil || t.Peers == nil) || f.Format.Native && !f.isChain() ||
		t != nil && t.Read != nil && t.Peers == nil
}

// isEvidence reports whether the file has a known format, other than lines of text that may be a trace.
func (f *File) isEvidence() bool {
	return f.Format != nil && (f.Format.Snapshot != nil || f.Format.Log != nil || f.Format.Native || f.Format.Trace != nil)
}

// states returns the formats that contain states, listed once: every file's name is compared with them.
var states = sync.OnceValue(formats.Snapshots)

// ofOnePeer reports whether the name of a file is that of an order log, a trace, an archive or a state.
func ofOnePeer(path string) bool {
	base := filepath.Base(path)
	return base == LogName || filepath.Ext(base) == ".trace" || archive.Named(base) || namedState(base)
}

// namedState reports whether a name is that of a state.
func namedState(base string) bool {
	return slices.ContainsFunc(states(), func(f snapshotFormat) bool {
		if f.ParseName == nil {
			return false
		}
		_, ok := f.ParseName(base)
		return ok
	})
}

// expected returns the kind that a file has by its name: one of desynctool's own files, an archive, a compressed file if
// it is not packed, or a file of a game. It is empty if the name shows none.
func expected(path, game string, packed bool) string {
	if archive.Named(path) {
		return "an archive"
	}
	for _, format := range formats.Reserved(path) {
		if format.Native || format.Game != "" && format.Game == game {
			return "a file of " + format.Title
		}
	}
	if !packed && compression.PlainName(path) != path {
		return "a compressed file"
	}
	return ""
}

// expected returns the kind that the file has by its name, in a session of a game. A text that a game writes for its
// developers may be named as another log of the game.
func (f *File) expected(game string) string {
	if f.ownLog {
		game = ""
	}
	return expected(f.Path, game, f.packed)
}

// most is how many bytes of a file of no known format are unpacked to check it.
const most = 16 << 20

// unpacks returns an error if a compressed file cannot be unpacked to its end. It checks files whose readers may stop
// before: order logs of games, and files of no known format.
func (s *Session) unpacks(f *File) error {
	size := int64(most)
	switch {
	case !f.packed || f.Err != nil:
		return nil
	case f.Format == nil:
	case f.Format.Native || f.Format.Log == nil:
		return nil
	default:
		size = limits.File.Max()
	}
	file, err := s.tree.Open(f.Path)
	if err == nil {
		defer file.Close()
		err = compression.Whole(file, size)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// ownExtension reports whether only one format has names with this end.
func ownExtension(path string) bool {
	ext := filepath.Ext(compression.PlainName(path))
	return ext != "" && slices.ContainsFunc(formats.All(), func(f engine.Format) bool { return slices.Contains(f.Extensions, ext) })
}

// lost reports a file with a beginning that cannot be read, since its kind is not known, and an empty file that is
// evidence by its name. It returns "" for other files.
func (f *File) lost() string {
	if f.Err != nil {
		return f.Err.Error()
	}
	if f.Size > 0 || f.other {
		return ""
	}
	base := filepath.Base(f.Path)
	usual := slices.ContainsFunc(states(), func(s snapshotFormat) bool { return s.Usual != nil && s.Usual(base) })
	if !usual && !ownExtension(base) && expected(base, "", false) == "" {
		return ""
	}
	return f.Path + ": empty file"
}

// misnamed reports a file with the name of evidence and the content of no format. It is lost if the name shows what it
// should be; else a warning is enough, since other games' files may have the same name.
func (s *Session) misnamed(f *File) (text string, lost bool) {
	if f.Err != nil || f.other || f.Format != nil || f.given || f.Size > 0 && f.hasTrace(s.tree) {
		return "", false
	}
	what := f.expected(s.game)
	switch {
	case what != "" && f.Size == 0:
		return f.Path + ": empty file", true
	case what != "":
		return fmt.Sprintf("%s: corrupt at offset 0: by its name it is %s, its content has no known format", f.Path, what), true
	case f.Size > 0 && ownExtension(f.Path):
		return fmt.Sprintf("%s: its content has no known format, whatever the name of the file is", f.Path), false
	}
	return "", false
}
