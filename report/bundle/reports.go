package bundle

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/peers"
)

// Reports returns the paths of the reports: a given file is a report, in folders they are named desync_report_*.json.
// The path - is returned as it is. A folder without any is an error.
func (s *Session) Reports() ([]string, error) {
	out := lists.Where(s.paths, func(path string) bool { return path == "-" })
	for _, f := range s.files {
		if f.given || f.isReport() {
			out = append(out, f.Path)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no desync_report_*.json in this folder", s.what())
	}
	return out, nil
}

// PeerReports returns the paths of the peers' own reports in folders.
func (s *Session) PeerReports() (paths []string) {
	for _, f := range s.files {
		if f.isReport() {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// ReadReport reads a saved report of any kind, see peers.ReadSaved; it may be compressed.
func (s *Session) ReadReport(path string) (any, error) {
	f, err := s.tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	saved, err := UnpackReport(f, path)
	if own, ok := saved.(*peers.Report); ok && err == nil {
		own.Peer = s.names.peer(own.Peer)
	}
	return saved, err
}

// UnpackReport reads a saved report, which may be compressed.
func UnpackReport(r io.Reader, name string) (any, error) {
	content, err := formats.Content(r, name)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return peers.ReadSaved(content, name)
}

// Excerpt reads the only order log and returns the orders of the ticks from from to before to, and the log's header.
// Without exactly one log both are nil. If the log cannot be read to its end the excerpt has the orders before the
// error.
func (s *Session) Excerpt(from, to uint64) (*peers.Excerpt, *orderlog.Header, error) {
	logs, _ := s.logFiles()
	if len(logs) != 1 {
		return nil, nil, nil
	}
	log, closer, err := openLog(s.tree, logs[0], nil)
	if err != nil {
		return nil, nil, err
	}
	defer closer.Close()
	header := log.Header()
	excerpt, err := peers.ReadExcerpt(log, from, to)
	return excerpt, &header, err
}

// formatOf returns the format of a name, nil if there is none.
func (s *Session) formatOf(name string) *engine.Format {
	for i := range s.list {
		if strings.EqualFold(s.list[i].Name, name) {
			return &s.list[i]
		}
	}
	return nil
}
