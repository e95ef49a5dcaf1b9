-- The interface of a game that plays a demo for a witness. It stands in place of the game's own, which
-- it loads, and does two things besides: it has the demo played as fast as the machine can, and it dumps
-- the state at the start of wanted frames. It changes nothing that is simulated.

local wanted = {}
for _, n in ipairs(VFS.Include("desynctool_frames.lua", nil, VFS.MOD)) do wanted[n] = true end

local file

local function vector(x, y, z) return string.format("<%.9g, %.9g, %.9g>", x or 0, y or 0, z or 0) end

local function flag(v) return v and 1 or 0 end

local function dumpUnit(put, u)
	local def = UnitDefs[Spring.GetUnitDefID(u) or -1]
	put("\t\tunitID: ", u, " (name: ", def and def.name or "", ")\n")
	put("\t\t\tpos: ", vector(Spring.GetUnitPosition(u)), "\n")
	put("\t\t\tspeed: ", vector(Spring.GetUnitVelocity(u)), "\n")
	local fx, fy, fz, rx, ry, rz, ux, uy, uz = Spring.GetUnitVectors(u)
	if type(fx) == "table" then
		put("\t\t\tzdir: ", vector(fx[1], fx[2], fx[3]), "\n\t\t\tydir: ", vector(fy[1], fy[2], fy[3]), "\n\t\t\txdir: ", vector(fz[1], fz[2], fz[3]), "\n")
	end
	put("\t\t\theading: ", Spring.GetUnitHeading(u) or 0, ", team: ", Spring.GetUnitTeam(u) or -1, "\n")
	local health, maxHealth, paralyze, capture, build = Spring.GetUnitHealth(u)
	put("\t\t\t", string.format("health: %.9g, maxHealth: %.9g, paralyzeDamage: %.9g, captureProgress: %.9g, buildProgress: %.9g",
		health or 0, maxHealth or 0, paralyze or 0, capture or 0, build or 0), "\n")
	put("\t\t\t", string.format("experience: %.9g", (Spring.GetUnitExperience(u)) or 0), "\n")
	local states = Spring.GetUnitStates(u)
	if type(states) == "table" then
		put("\t\t\tfireState: ", states.firestate or 0, ", moveState: ", states.movestate or 0, ", activated: ", flag(states.active), "\n")
	end
	local weapons = 0
	while Spring.GetUnitWeaponState(u, weapons + 1, "reloadState") do weapons = weapons + 1 end
	put("\t\t\tweapons: ", weapons, "\n")
	for w = 1, weapons do
		put("\t\t\t\tweaponID: ", w - 1, " (name: )\n")
		put("\t\t\t\treloadFrame: ", Spring.GetUnitWeaponState(u, w, "reloadState"), "\n")
	end
	local queue = Spring.GetCommandQueue(u, -1) or {}
	put("\t\t\tcommandAI:\n\t\t\t\tcommandQue.size(): ", #queue, "\n")
	for _, c in ipairs(queue) do
		put("\t\t\t\t\tcommandID: ", c.id, "\n\t\t\t\t\t\tparams: ", #c.params, "\n")
		for _, p in ipairs(c.params) do put("\t\t\t\t\t\t\t", string.format("%.9g", p), "\n") end
	end
end

local function dump(n)
	local out = {}
	local function put(...)
		for i = 1, select("#", ...) do out[#out + 1] = tostring((select(i, ...))) end
	end
	local function sorted(list)
		table.sort(list)
		return list
	end
	put("frame: ", n, ", seed: 0\n")
	local units = sorted(Spring.GetAllUnits())
	put("\tunits: ", #units, "\n")
	for _, u in ipairs(units) do dumpUnit(put, u) end
	local features = sorted(Spring.GetAllFeatures())
	put("\tfeatures: ", #features, "\n")
	for _, f in ipairs(features) do
		local def = FeatureDefs[Spring.GetFeatureDefID(f) or -1]
		put("\t\tfeatureID: ", f, " (name: ", def and def.name or "", ")\n")
		put("\t\t\tpos: ", vector(Spring.GetFeaturePosition(f)), "\n")
		put("\t\t\t", string.format("health: %.9g, reclaimLeft: %.9g", (Spring.GetFeatureHealth(f)) or 0, select(5, Spring.GetFeatureResources(f)) or 0), "\n")
	end
	local projectiles = {}
	for _, p in ipairs(Spring.GetProjectilesInRectangle(-1e6, -1e6, 1e6, 1e6) or {}) do projectiles[#projectiles + 1] = p end
	sorted(projectiles)
	put("\tprojectiles: ", #projectiles, "\n")
	for _, p in ipairs(projectiles) do
		put("\t\tprojectileID: ", p, "\n")
		put("\t\t\tpos: ", vector(Spring.GetProjectilePosition(p)), "\n")
		put("\t\t\tspeed: ", vector(Spring.GetProjectileVelocity(p)), "\n")
	end
	local teams = sorted(Spring.GetTeamList())
	put("\tteams: ", #teams, "\n")
	for _, t in ipairs(teams) do
		put("\t\tteamID: ", t, "\n")
		for _, kind in ipairs({"metal", "energy"}) do
			put("\t\t\t", string.format("%s: %.9g", kind, (Spring.GetTeamResources(t, kind)) or 0), "\n")
		end
	end
	if not file then
		file = io.open("desynctool-state.txt", "w")
		file:write(" mapName: ", Game.mapName, "\n modName: ", Game.modName, "\n")
	end
	file:write(table.concat(out))
	file:flush()
end

local function frame(n)
	if n <= 0 then Spring.SendCommands("setmaxspeed 1000", "setminspeed 1000") end
	if wanted[n] then
		local ok, why = pcall(dump, n)
		Spring.Echo("[desynctool] " .. (ok and "state of frame " .. n .. " written" or "no state of frame " .. n .. ": " .. tostring(why)))
	end
end

-- The game's interface comes first, and may set and remove its GameFrame at any time.
local theirs
local update = Script.UpdateCallIn
local ours = function(n)
	frame(n)
	if theirs then return theirs(n) end
end

function Script.UpdateCallIn(name, ...)
	if name == "GameFrame" and rawget(_G, "GameFrame") ~= ours then
		theirs = rawget(_G, "GameFrame")
		GameFrame = ours
	end
	return update(name, ...)
end

for _, name in ipairs({"desynctool_ui.lua", "LuaUI/main.lua"}) do
	local code = VFS.LoadFile(name, VFS.MOD)
	if code then
		local chunk, why = loadstring(code, name)
		if chunk then
			local ok, failed = pcall(chunk)
			why = not ok and failed
		end
		if why then Spring.Echo("[desynctool] the game's interface did not load: " .. tostring(why)) end
		break
	end
end
theirs = rawget(_G, "GameFrame")
GameFrame = ours
