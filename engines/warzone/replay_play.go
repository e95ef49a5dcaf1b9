package warzone

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
)

// dumpsOfRun is how many dumps the game writes while it plays one recording.
const dumpsOfRun = 2

// maxRuns is how often it plays a recording for one replay.
const maxRuns = 16

// play is the state of one replay: the game plays the recording once for all checksums, and again for dumps that
// it did not write then.
type play struct {
	program *engine.Program
	rec     *recording
	dirs    engine.Dirs
	mods    []string // files
	maps    []string

	runs   int
	config string // folder of the current run

	known map[uint32]uint16     // computed CRCs of the first run, by game time
	upTo  uint32                // time up to which that run compared
	dumps map[uint32]replayDump // by game time
	ask   []uint32              // times at which dumps are wanted and not there
}

// dump is a sync dump that the game wrote.
type replayDump struct {
	file string // in Dirs.Work
	slot int
	crc  uint32
}

func prepare(p *engine.Program, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*engine.Plan, error) {
	until := uint32(math.MaxUint32)
	if ask.Until != nil {
		if t, ok := timeOf(*ask.Until); ok && t <= math.MaxUint32-TickLength {
			until = t + TickLength // the effects of that tick show in the next one
		}
	}
	r, err := scan(rec.File, until)
	if err != nil {
		return nil, err
	}
	s := &play{program: p, rec: r, dirs: dirs, dumps: map[uint32]replayDump{}, known: map[uint32]uint16{}}
	if s.mods, err = contentFiles(p.Options[modsOption], r.settings.Mods); err != nil {
		return nil, &engine.Refusal{Why: "mods: " + err.Error()}
	}
	if s.maps, err = mapFiles(p.Options[mapsOption]); err != nil {
		return nil, &engine.Refusal{Why: "maps: " + err.Error()}
	}
	for _, point := range ask.Dump {
		if t, ok := timeOf(point); ok {
			s.ask = append(s.ask, t)
		}
	}
	return s.plan(nil)
}

// timeOf returns the game time of a state point.
func timeOf(point uint64) (uint32, bool) {
	if point > (math.MaxUint32-ordersFirstTime)/TickLength {
		return 0, false
	}
	return uint32(point*TickLength + ordersFirstTime), true
}

// plan returns how the game plays the recording, with dumps at some times. The first run has none, and compares
// what was recorded.
func (s *play) plan(dump []uint32) (*engine.Plan, error) {
	s.config = filepath.Join(s.dirs.Work, "run"+strconv.Itoa(s.runs))
	s.runs++
	folder := filepath.Join(s.config, "replay", "multiplay")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	if err := s.place(); err != nil {
		return nil, err
	}
	ends, err := s.write(filepath.Join(folder, recordingName), dump)
	if err != nil {
		return nil, err
	}
	args := []string{s.program.Path, "--headless", "--nosound", "--debug=net", "--configdir=" + s.config, "--loadreplay=multiplay/" + recordingName}
	plan := &engine.Plan{
		Command: confine.Command{Args: args, Dir: s.dirs.Work, Env: confine.Minimal(s.dirs.Home)},
		Tick: func(line string) (uint64, bool) {
			w, ok := parseWrong(line)
			return uint64(w.time / TickLength), ok
		},
		Over: func(line string) bool {
			w, ok := parseWrong(line)
			return ok && ends[w] || cannot(line) != ""
		},
		Next: func(ended *confine.Ended) (*engine.Plan, error) { return s.next(ended, dump, ends) },
	}
	length := time.Duration(s.rec.lastTime()) * time.Millisecond
	plan.Seconds = length.Seconds()/aboutSpeed + aboutStart
	if s.runs == 1 {
		plan.Seconds *= float64(1 + (len(s.ask)+dumpsOfRun-1)/dumpsOfRun)
	}
	// A game that waits for something that does not come, or shows a message that no user sees, is ended.
	began := time.Now()
	plan.Poll = func() (uint64, bool) { return 0, time.Since(began) > patience+length }
	plan.Collect = func(*confine.Ended) error { return s.leave() }
	return plan, nil
}

const (
	recordingName = "recording.wzrp"

	aboutSpeed = 30.0 // seconds of game time that it plays in one
	aboutStart = 3.0  // seconds in which it starts
	patience   = 2 * time.Minute
)

// lastTime returns the last time that all queues which are compared name.
func (r *recording) lastTime() uint32 {
	last := uint32(math.MaxUint32)
	for _, l := range r.last {
		last = min(last, l.CheckTime)
	}
	return last
}

// write writes the recording as the game is to play it. It returns the reports that make the game print that it has
// reached the end: wrong ones that were added.
//
// The content of a message is part of the text that the checksum of its tick is computed from. So if dumps are wanted,
// no recorded checksum before the last of them is compared: see mend.
func (s *play) write(name string, dump []uint32) (ends map[wrong]bool, err error) {
	out, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriter(out)
	if err := s.rec.copyHead(w); err != nil {
		return nil, err
	}
	ends = map[wrong]bool{}
	marked := map[uint32]bool{}
	var b []byte
	_, err = s.rec.each(func(m *Message, g *GameTime) error {
		if b = b[:0]; g == nil || g.CheckTime == 0 || !s.rec.compares(m.Queue) {
			_, err := w.Write(m.Append(b))
			return err
		}
		rep := report{m.Queue, *g}
		if slices.Contains(dump, g.CheckTime) && !marked[g.CheckTime] {
			marked[g.CheckTime] = true
			rep.CRC = s.known[g.CheckTime]
			for _, mark := range replayMarks(rep) {
				b = appendReport(b, mark)
				if g.CheckTime == dump[len(dump)-1] {
					ends[mark.wrong()] = true
				}
			}
		}
		if len(dump) > 0 && g.CheckTime <= dump[len(dump)-1] {
			rep = blank(report{m.Queue, *g})
		}
		b = appendReport(b, rep)
		if last, ok := s.rec.last[m.Queue]; ok && len(dump) == 0 && m.Offset == s.rec.ends[m.Queue] {
			for _, mark := range replayMarks(last) {
				b = appendReport(b, mark)
				ends[mark.wrong()] = true
			}
		}
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(s.rec.tail()); err != nil {
		return nil, err
	}
	return ends, w.Flush()
}

// copyHead writes the part before the messages unchanged.
func (r *recording) copyHead(w io.Writer) error {
	in, err := os.Open(r.file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.CopyN(w, in, r.head)
	return err
}

// next reads the files of a run, and returns the next run, nil if nothing is missing.
func (s *play) next(ended *confine.Ended, dump []uint32, ends map[wrong]bool) (*engine.Plan, error) {
	if err := engine.Ended(ended); err != nil {
		return nil, err
	}
	said, err := readPrinted(s.dirs.Log, ends)
	if err != nil {
		return nil, err
	}
	if !said.over {
		why := "it ended before the end of the recording"
		if said.cannot != "" {
			why = "it does not play it"
		}
		return nil, &engine.Failure{Why: why, Said: lastOf(ended.Tail, said.cannot)}
	}
	if s.runs == 1 {
		s.upTo = said.end
		if err := s.learn(said); err != nil {
			return nil, err
		}
	}
	if err := s.takeDumps(dump); err != nil {
		return nil, err
	}
	// A dump of another run belongs to this state only if its checksum shows that.
	s.ask = slices.DeleteFunc(s.ask, func(t uint32) bool {
		_, have := s.dumps[t]
		_, known := s.known[t]
		return have || !known
	})
	slices.Sort(s.ask)
	s.ask = slices.Compact(s.ask)
	if len(s.ask) == 0 || s.runs == maxRuns {
		return nil, nil
	}
	now := s.ask[:min(dumpsOfRun, len(s.ask))]
	s.ask = s.ask[len(now):]
	return s.plan(now)
}

// learn derives the results of the first run from the checksums that it reported as wrong: checksums that it compared
// and did not report are right.
func (s *play) learn(said *printed) error {
	for _, t := range slices.Sorted(maps.Keys(s.rec.crcs)) {
		if t > s.upTo {
			break
		}
		for _, rep := range s.rec.crcs[t] {
			if said.wrong[key{rep.queue, t}] {
				continue
			}
			if crc, ok := s.known[t]; ok && crc != rep.CRC {
				return &engine.Failure{Why: fmt.Sprintf("it took both %04X and %04X for the checksum of %d", crc, rep.CRC, t)}
			}
			s.known[t] = rep.CRC
		}
	}
	return nil
}

// takeDumps moves the dumps of a run to those that are there already.
func (s *play) takeDumps(wanted []uint32) error {
	folder := filepath.Join(s.config, "logs")
	list, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, entry := range list {
		name, ok := ParseDumpName(entry.Name())
		if _, have := s.dumps[name.Time]; !ok || have || !entry.Type().IsRegular() || name.Time > s.upTo {
			continue
		}
		file := filepath.Join(folder, entry.Name())
		crc, known := s.known[name.Time]
		if s.runs > 1 {
			if !known || !slices.Contains(wanted, name.Time) {
				continue
			}
			if file, err = s.mend(file, name.Time); err != nil {
				return err
			}
		}
		sum, err := dumpCRC(file, name.Time)
		switch {
		case err != nil:
			return &engine.Failure{Why: fmt.Sprintf("its dump of %d is damaged: %v", name.Time, err)}
		case known && crc != uint16(sum) && s.runs > 1:
			continue // a game that is not deterministic computes something else in another run
		case known && crc != uint16(sum):
			return &engine.Failure{Why: fmt.Sprintf("its dump of %d has the checksum %04X, and it expected %04X", name.Time, uint16(sum), crc)}
		}
		s.dumps[name.Time] = replayDump{file, name.Slot, sum}
	}
	return nil
}

// dumpCRC reads a dump to its end, and returns its CRC.
func dumpCRC(file string, time uint32) (uint32, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	d, err := NewDump(bufio.NewReader(f), filepath.Base(file))
	if err != nil {
		return 0, err
	}
	if d.Head().Time != time {
		return 0, fmt.Errorf("it has %d", d.Head().Time)
	}
	for {
		if _, err := d.Next(); err == io.EOF {
			return d.Head().CRC, nil
		} else if err != nil {
			return 0, err
		}
	}
}
