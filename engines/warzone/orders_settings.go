package warzone

import (
	"encoding/json"
	"fmt"
)

// Settings is what a recording contains about its game before the first message.
type Settings struct {
	Format  int    // version of the format
	Build   string // "4.3.3"
	Seed    uint32 // of the sim's random number generator
	Slot    int    // the recorder's slot, -1 if it is not stated
	Host    int    // slot of the host
	Map     string
	MapHash string
	Mods    []string // hashes
	// Players has an element for each slot.
	Players []Player
	// DataHashes are checksums of groups of the game's data, 0 for groups that the game does not use.
	DataHashes []uint32

	JSON []byte // all of it, as in the file
}

// Player is the player in a slot.
type Player struct {
	Name     string
	Human    bool // a separate machine; AIs run on another player's
	Position int
	Team     int
}

// maxSlots is how many slots a queue's number can name.
const maxSlots = 256

func parseSettings(text []byte) (*Settings, error) {
	var s struct {
		Format int `json:"replayFormatVer"`
		Game   struct {
			Game struct {
				Map  string   `json:"map"`
				Hash string   `json:"hash"`
				Mods []string `json:"modHashes"`
			} `json:"game"`
			DataHash []uint32 `json:"dataHash"`
			Players  []struct {
				Name      string `json:"name"`
				Allocated bool   `json:"allocated"`
				Position  int    `json:"position"`
				Team      int    `json:"team"`
			} `json:"netplay.players"`
			Host     int    `json:"netplay.hostPlayer"`
			Seed     uint32 `json:"randSeed"`
			Selected *int   `json:"selectedPlayer"`
			Version  string `json:"versionString"`
		} `json:"gameOptions"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	g := &s.Game
	out := &Settings{
		Format: s.Format, Build: g.Version, Seed: g.Seed, Slot: -1, Host: g.Host, Map: g.Game.Map, MapHash: g.Game.Hash,
		Mods: g.Game.Mods, DataHashes: g.DataHash, JSON: text,
	}
	if len(g.Players) > maxSlots {
		return nil, fmt.Errorf("%d players, at most %d are possible", len(g.Players), maxSlots)
	}
	if g.Selected != nil {
		if *g.Selected < 0 || *g.Selected >= maxSlots {
			return nil, fmt.Errorf("selectedPlayer is %d, expected 0 to %d", *g.Selected, maxSlots-1)
		}
		out.Slot = *g.Selected
	}
	for _, p := range g.Players {
		out.Players = append(out.Players, Player{p.Name, p.Allocated, p.Position, p.Team})
	}
	return out, nil
}
