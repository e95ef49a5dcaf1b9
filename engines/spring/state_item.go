package spring

// item describes which lines begin a row. The engine's own names of things are in the singular of the sections'.
type item struct {
	section string // the heading around it
	depth   int    // tabs before the line that begins a row
	fields  int    // tabs before its further lines
	key     string // of the line that begins a row
	label   string // of the table
	// count is the key with the number of rows that follow, "" if the heading has it.
	count string
	child bool // keyed by (the row around it, number)
	id    bool // the line has the row's number; else rows are counted
}

// uncounted is the count of rows if their number is not given.
const uncounted = "-"

// items is the only table of the things that become rows.
var items = [...]item{
	{section: "units", depth: 2, fields: 3, key: "unitID", label: "Unit", id: true},
	{section: "units", depth: 4, fields: 4, key: "name", label: "UnitPiece", count: "pieces", child: true},
	{section: "units", depth: 4, fields: 4, key: "weaponID", label: "UnitWeapon", count: "weapons", child: true, id: true},
	{section: "units", depth: 5, fields: 5, key: "commandID", label: commandLabel, count: "commandQue.size()", child: true},
	{section: "unitsToBeRemoved", depth: 2, fields: 3, key: "unitID", label: "UnitToBeRemoved", id: true},
	{section: "features", depth: 2, fields: 3, key: "featureID", label: "Feature", id: true},
	{section: "projectiles", depth: 2, fields: 3, key: "projectileID", label: "Projectile", id: true},
	{section: teamSection, depth: 2, fields: 3, key: "teamID", label: teamLabel, id: true},
	{section: allySection, depth: 2, fields: 3, key: "allyteamID", label: "AllyTeam", id: true},
	{section: allySection, depth: 3, fields: 4, key: "LOS-map type", label: "LosMap", count: uncounted, child: true, id: true},
	{section: "loaded models", depth: 2, fields: 2, key: "name", label: "Model"},
	{section: "loaded models", depth: 3, fields: 3, key: "name", label: "ModelPiece", count: "pieceObjects", child: true},
	{section: "CobEngine", depth: 3, fields: 4, key: "id", label: "CobThread", count: "CobThreads", id: true},
}

// Labels and sections that are more than a name.
const (
	gameLabel     = "Game"
	teamLabel     = "Team"
	teamSection   = "teams"
	allySection   = "allyteams"
	engineSection = "unitsToBeRemoved" // that Recoil writes and scripts do not
	commandLabel  = "UnitCommand"
	commandParams = "params" // has how many numbers follow, one a line
	historyLabel  = "FrameChecksum"
)

// class is the kind of value after a key. Types of columns follow from it and from the shape of a value, and so not
// from what one file has.
type class uint8

const (
	plain     class = iota // an integer, most often
	float                  // a float, or its bits
	vector                 // "<x, y, z>", or a hash of that
	word                   // text, and the rest is part of it
	parameter              // a float that may look like an integer
	classes
)

// classOf returns the class of a key.
func classOf(key string) class {
	switch key {
	case "health", "experience", "metal", "energy", "metalPull", "energyPull", "metalIncome", "energyIncome", "metalExpense", "energyExpense",
		"maxSpeed", "maxWantedSpeed", "terraformHelp", "myTerraformLeft", "terraformRadius", "radius", "height", "reclaimLeft",
		"PI", "INVPI", "INVPI2", "TWOPI", "THREEPI", "SQRPI", "PIU4", "PISUN4", "HALFPI", "QUARTERPI", "NEGHALFPI", "SQRT2", "HALFSQRT2",
		"RAD_TO_DEG", "DEG_TO_RAD":
		return float
	case "pos", "speed", "dir", "xdir", "ydir", "zdir", "rot", "relMidPos", "relAimPos", "midPos", "weaponDir", "absWeaponPos", "relAimFromPos",
		"absWeaponMuzzlePos", "relWeaponMuzzlePos", "goalPos", "oldUpdatePos", "oldSlowUpPos", "currWayPoint", "nextWayPoint", "terraformCenter",
		"mins", "maxs", "bposeMatrix", "bakedMatrix", "offset", "goffset", "scales":
		return vector
	case "name", "controller", "parentName", "mapCheckSum", "modCheckSum", "tx1,tx2,tz1,tz2", "ids", "wts|ids", "dead|gargage|waiting", "checksum":
		return word
	}
	return plain
}
