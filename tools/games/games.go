//go:build unix

package main

// games are the games with a recipe, each with the cases in testdata that the recipe plays again.
var games = []game{
	{name: "0ad", make: makeZeroad, cases: []made{
		recorded("0ad/control_mp_orders", "nothing differs", "", nil),
		recorded("0ad/mp_late_damage", "a spearman's attack is stronger on the client", "client", tick(24)),
		recorded("0ad/mp_orders_walkspeed", "spearmen walk faster on the client", "client", tick(17)),
	}},
	{name: "spring", make: makeSpring},
	{name: "warzone2100", make: makeWarzone, cases: []made{{
		name: "warzone2100/player_power_3peer", truth: "slot 1 has 1 of power more", guilty: "slot 1", tick: tick(256),
		paths: []string{
			"testdata/warzone2100/player_power_3peer/host_p0", "testdata/warzone2100/player_power_3peer/gamma_p1",
			"testdata/warzone2100/player_power_3peer/beta_p2",
		},
	}}},
	{name: "widelands", make: makeWidelands},
	{name: "openttd", make: makeOpenttd},
}

// recorded returns a case in testdata with a folder for each peer, host and client.
func recorded(folder, truth, guilty string, at *uint64) made {
	return made{name: folder, paths: []string{"testdata/" + folder + "/host", "testdata/" + folder + "/client"}, truth: truth, guilty: guilty, tick: at}
}

func tick(n uint64) *uint64 { return &n }
