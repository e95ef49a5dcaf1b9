package refsim

import (
	"cmp"
	"fmt"
	"strconv"
)

// Config selects the game that is played. Peers of one session have the same.
type Config struct {
	Seed     uint64
	Entities int // about how many entities live, 100…100,000; 0 means 5000
	Players  int // 2…8; 0 means 4

	// Names shuffles the names of archetypes, components, fields, caches, systems and kinds of orders, so that nothing
	// can be recognised by its name; 0 leaves the names as they are. The game is the same under any names.
	Names uint64
}

// The limits of a Config.
const (
	MinEntities, DefaultEntities, MaxEntities = 100, 5000, 100_000
	MinPlayers, DefaultPlayers, MaxPlayers    = 2, 4, 8
)

func (c Config) withDefaults() (Config, error) {
	c.Entities = cmp.Or(c.Entities, DefaultEntities)
	c.Players = cmp.Or(c.Players, DefaultPlayers)
	if c.Entities < MinEntities || c.Entities > MaxEntities {
		return c, fmt.Errorf("%d entities, expected %d to %d", c.Entities, MinEntities, MaxEntities)
	}
	if c.Players < MinPlayers || c.Players > MaxPlayers {
		return c, fmt.Errorf("%d players, expected %d to %d", c.Players, MinPlayers, MaxPlayers)
	}
	return c, nil
}

// SimName is the value of the parameter "sim".
const SimName = "refsim"

// Params returns the configuration as an order log's header keeps it.
func (c Config) Params() map[string]string {
	params := map[string]string{
		"sim":      SimName,
		"seed":     strconv.FormatUint(c.Seed, 10),
		"entities": strconv.Itoa(c.Entities),
		"players":  strconv.Itoa(c.Players),
	}
	if c.Names != 0 {
		params["names"] = strconv.FormatUint(c.Names, 10)
	}
	return params
}

// ParseParams returns the configuration that has these Params. Keys that it does not know are ignored, missing ones
// mean the defaults.
func ParseParams(params map[string]string) (Config, error) {
	var c Config
	if sim, ok := params["sim"]; ok && sim != SimName {
		return c, fmt.Errorf("parameter sim is %q, expected %q", sim, SimName)
	}
	var err error
	for _, p := range []struct {
		key string
		dst *uint64
	}{{"seed", &c.Seed}, {"names", &c.Names}} {
		if s, ok := params[p.key]; ok {
			if *p.dst, err = strconv.ParseUint(s, 10, 64); err != nil {
				return c, fmt.Errorf("parameter %s is %q, expected a number", p.key, s)
			}
		}
	}
	for _, p := range []struct {
		key string
		dst *int
	}{{"entities", &c.Entities}, {"players", &c.Players}} {
		if s, ok := params[p.key]; ok {
			if *p.dst, err = strconv.Atoi(s); err != nil {
				return c, fmt.Errorf("parameter %s is %q, expected a number", p.key, s)
			}
		}
	}
	return c.withDefaults()
}
