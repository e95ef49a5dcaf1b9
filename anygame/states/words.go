package states

import (
	"strings"
	"unicode"
)

// Words by which games call things, in lower case and without separators.
var (
	tickWords = []string{
		"tick", "frame", "turn", "step", "cycle", "beat", "gametick", "simtick", "simframe", "gameframe", "framenumber", "framenum", "frameno", "frameid", "framecount",
		"ticknumber", "ticknum", "tickcount", "tickid", "turnnumber", "turnnum", "turnno", "tickno", "stepno", "istep", "stepnumber", "simstep", "currenttick", "currentframe", "currentturn", "netframe", "nettick",
		"worldtick", "servertick", "iteration", "round", "gameloop", "simulationtick", "simulationframe",
		"takt", "taktnr", "runde", "schritt", "zugnr", "trame", "turno", "tura", "paso", "такт", "кадр", "ход", "time", "gametime", "simtime",
	}
	wholeWords = []string{"game", "sim", "simulation", "world", "match", "current", "cur", "now", "number", "num", "no", "nr", "count", "counter", "total", "elapsed"}
	peerWords  = []string{"peer", "peerid", "peername", "machine", "writtenby", "writer", "client", "clientid", "clientname"}
	rngWords   = []string{"rng", "prng", "random", "rand", "seed", "rngstate", "randomstate", "randstate", "prngstate", "rngseed", "randomseed", "randseed", "mt", "mtstate"}
	idWords    = []string{
		"id", "uid", "uuid", "guid", "#id", "gid", "eid", "oid", "nid", "entityid", "entity", "objectid", "unitid", "netid", "networkid", "handle", "key", "name", "label", "callsign", "tag", "index", "idx", "slot",
		"number", "num", "nr", "no", "kennung", "identifiant", "identificador", "nummer", "numéro", "numero", "número",
		"bezeichnung", "nom", "nombre", "nome",
	}
	numberWords = []string{"number", "num", "nr", "no", "nummer", "numéro", "numero", "número"}
	// steadyWords are names of rows that come and go.
	steadyWords = append([]string{"name", "index", "idx", "bezeichnung", "nom", "nombre", "nome"}, numberWords...)
	weakWords   = append([]string{"slot", "label", "callsign", "tag"}, steadyWords...) // of idWords, those that may change
	stanceWords = []string{                                                            // names of texts that change
		"state", "status", "mode", "phase", "stance", "pose", "action", "activity", "anim", "animation", "behavior", "behaviour", "mood", "goal",
		"job", "task", "facing", "direction", "dir", "zustand", "état", "etat", "estado",
	}
	pairWords = []string{ // names of two numbers, "12,7", where a machine may write decimal commas
		"pos", "position", "coord", "coords", "coordinates", "xy", "cell", "tile", "place", "location", "loc", "target", "dest", "destination",
		"size", "vel", "velocity", "ort", "feld", "ziel",
	}
	placeWords   = []string{"x", "y", "z", "q", "r", "i", "j", "row", "col", "column", "line", "lane", "layer", "level", "floor", "cell", "place", "pos", "position", "rank", "order"}
	rowWords     = []string{"id", "uid", "uuid", "guid", "eid", "entityid", "entity", "objectid", "unitid", "netid"}
	orderWords   = []string{"cmd", "command", "action", "order", "input", "op", "event"}
	messageWords = []string{"msg", "message", "text", "chat", "log", "loglevel", "severity"}
	kindWords    = []string{"kind", "type", "table", "class", "archetype", "entitytype", "component", "category", "subsystem", "system", "section", "#type"}
	stateWords   = []string{"state", "states", "snapshot", "snapshots", "snaps", "frames", "ticks", "turns", "steps", "bytick", "byframe", "byturn", "history", "dumps", "dump", "records", "samples"}
	pastWords    = []string{"frames", "ticks", "turns", "steps", "bytick", "byframe", "byturn", "history", "snapshots", "snaps"} // of stateWords, those that are no tables
	fileWords    = []string{"save", "saves", "autosave", "report", "game", "match", "data", "entities", "objects"}
	fieldWords   = []string{"field", "property", "prop", "attribute", "attr", "variable", "var", "member", "column"}
	valueWords   = []string{"value", "val", "data", "v"}
)

// NamesState reports whether a name is used for files with states: state, dump and so on.
func NamesState(name string) bool { return rank(stateWords, name)+rank(fileWords, name) > 0 }

// plain returns a name in lower case and without separators: "entityId", "entity_id" and "Entity ID" are one name.
func plain(name string) string {
	if strings.IndexFunc(name, func(r rune) bool {
		return r == '_' || r == '-' || r == ' ' || r == '.' || r == '@' || unicode.IsUpper(r)
	}) < 0 {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' || r == '@' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// rank returns how early a name is in a list of words, counted from the end; 0 if it is not in it.
func rank(words []string, name string) int {
	name = plain(name)
	for i, w := range words {
		if w == name {
			return len(words) - i
		}
	}
	return 0
}

// idRank returns how likely a member of that name identifies a row, 0 if its name does not show that.
func idRank(name string) int {
	if r := rank(idWords, name); r > 0 {
		return r + 1
	}
	if p := plain(name); strings.HasSuffix(p, "id") && (strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "-id")) {
		return 1
	}
	return 0
}

// Words returns a name in lower case with a separator between its words: "wall_clock" for "wallClock".
func Words(name string) string {
	var out strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			out.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
