package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/verdict"
)

// match is the match that a file names, by the engine's own name.
type match struct{ session, file string }

// oneMatch returns an error if files are of different matches.
func oneMatch(files []match) error {
	for _, f := range files {
		if first := files[0]; f.session != first.session {
			return fmt.Errorf("files of two matches: %s belongs to %s, %s to %s; give the files of one", first.file, first.session, f.file, f.session)
		}
	}
	return nil
}

// OtherGamesError means that there are artifacts of several games.
type OtherGamesError struct {
	Found []GameFile // the first of each game, by its name
}

// GameFile is a file of a game.
type GameFile struct {
	Game, Path, Title string
}

func (e *OtherGamesError) Error() string {
	list := lists.Map(e.Found, func(f GameFile) string { return fmt.Sprintf("%s belongs to %s (%s)", f.Path, f.Game, f.Title) })
	return fmt.Sprintf("artifacts of several games: %s; give the files of one match", strings.Join(list, ", "))
}

// Game returns the game that the artifacts come from, empty if they are in our formats or may belong to any game.
func (s *Session) Game() string { return s.game }

// Given returns the paths that the evidence was read from, and, if there are several matches, the number of this one.
func (s *Session) Given() verdict.Given {
	g := verdict.Given{Paths: s.paths}
	if s.match != nil {
		g.Match = s.match.Number
	}
	return g
}

// oneGame finds the game that the artifacts come from. Artifacts of several games are an error.
func (s *Session) oneGame() error {
	games := s.gameFiles()
	if len(games) > 1 {
		e := &OtherGamesError{}
		e.Found = lists.Map(slices.Sorted(maps.Keys(games)), func(game string) GameFile { return games[game] })
		return e
	}
	for game := range games {
		s.game = game
	}
	return nil
}

// gameFiles returns the first file of each game.
func (s *Session) gameFiles() map[string]GameFile {
	games := map[string]GameFile{}
	found := func(f *engine.Format, path func() string) {
		if f == nil || f.Game == "" {
			return
		}
		if _, seen := games[f.Game]; !seen {
			games[f.Game] = GameFile{f.Game, path(), f.Title}
		}
	}
	for _, p := range s.places {
		if p.set != nil {
			for _, e := range p.set.Entries {
				found(s.formatOf(e.Format.Name), e.Path)
			}
		}
	}
	for _, f := range s.files {
		found(f.Format, func() string { return f.Path })
	}
	return games
}
