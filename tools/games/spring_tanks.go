//go:build unix

package main

// tanksGame is a game of tanks that drive and shoot. Its script dumps the state every few frames, like scripts of games
// for engines without a dump.
var tanksGame = map[string]string{
	"modinfo.lua": `return {name = "Witness Tanks", version = "1", modtype = 1, depend = {"Spring content v1", "Spring Cursors"}}
`,
	"gamedata/sidedata.lua": `return {{name = "Tanks", startUnit = "tank"}}
`,
	"gamedata/movedefs.lua": `return {{name = "tank", footprintX = 2, footprintZ = 2, maxSlope = 60, crushStrength = 50}}
`,
	"units/tank.lua": `return {tank = {
	name = "Tank", objectName = "box.s3o", script = "tank.lua", category = "TANK",
	maxDamage = 1200, mass = 500, metalCost = 100, energyCost = 100, buildTime = 100, power = 200,
	footprintX = 2, footprintZ = 2, movementclass = "tank", canMove = true, canAttack = true, canFight = true, canPatrol = true, canGuard = true,
	acceleration = 0.1, brakeRate = 0.3, maxVelocity = 2.5, turnRate = 600, sightDistance = 600, autoHeal = 0.37, idleAutoHeal = 0.53, idleTime = 90,
	weapons = {{def = "GUN"}},
	weapondefs = {gun = {
		name = "Gun", weaponType = "Cannon", range = 320, reloadTime = 1.3, weaponVelocity = 300, areaOfEffect = 24, accuracy = 300, sprayAngle = 400,
		damage = {default = 37}, tolerance = 6000, turret = true, avoidFriendly = false, collideFriendly = false, impulseFactor = 0.3,
	}},
}}
`,
	"scripts/tank.lua": `local base = piece("base")
function script.Create() end
function script.QueryWeapon() return base end
function script.AimFromWeapon() return base end
function script.AimWeapon() return true end
function script.Killed() return 1 end
`,
	"LuaRules/main.lua": `VFS.Include("LuaGadgets/gadgets.lua", nil, VFS.BASE)
`,
	"LuaRules/draw.lua": `VFS.Include("LuaGadgets/gadgets.lua", nil, VFS.BASE)
`,
	"LuaRules/Gadgets/unit_script.lua": `return VFS.Include("LuaGadgets/Gadgets/unit_script.lua", nil, VFS.BASE)
`,
	"LuaRules/Gadgets/spawn.lua": `function gadget:GetInfo() return {name = "Spawn", layer = 0, enabled = true} end
if not gadgetHandler:IsSyncedCode() then return end

local function spawn(team)
	local x, _, z = Spring.GetTeamStartPosition(team)
	for i = 0, 7 do
		local ux, uz = x + (i % 4) * 40 - 60, z + math.floor(i / 4) * 48 - 24
		local unit = Spring.CreateUnit("tank", ux, Spring.GetGroundHeight(ux, uz), uz, 0, team)
		Spring.SetUnitHealth(unit, 1200 - 7.03125 * ((unit * 13) % 19))
	end
end

function gadget:GameStart()
	for _, team in ipairs(Spring.GetTeamList()) do
		if team ~= Spring.GetGaiaTeamID() then spawn(team) end
	end
end

-- Who has lost most of its tanks is given new ones, so that the battle goes on.
function gadget:GameFrame(n)
	if n > 0 and n % 450 == 0 then
		for _, team in ipairs(Spring.GetTeamList()) do
			if team ~= Spring.GetGaiaTeamID() and Spring.GetTeamUnitCount(team) < 4 then spawn(team) end
		end
	end
end
`,
	"LuaRules/Gadgets/dump.lua": `function gadget:GetInfo() return {name = "Dump", layer = 1000, enabled = true} end
if gadgetHandler:IsSyncedCode() then return end

local options = Spring.GetModOptions()
local period, pokeFrame, pokeUnit = tonumber(options.dumpperiod) or 30, tonumber(options.pokeframe), tonumber(options.pokeunit)

local function vector(key, x, y, z) return string.format("%s: <%.9g, %.9g, %.9g>", key, x, y, z) end

-- What a machine has is written by its interface: the rules have no files.
local function dump(n)
	local out = {}
	local function put(...)
		for i = 1, select("#", ...) do out[#out + 1] = tostring((select(i, ...))) end
	end
	put("frame: ", n, ", seed: 0\n")
	local units = Spring.GetAllUnits()
	table.sort(units)
	put("\tunits: ", #units, "\n")
	for _, u in ipairs(units) do
		put("\t\tunitID: ", u, " (name: ", UnitDefs[Spring.GetUnitDefID(u)].name, ")\n")
		put("\t\t\t", vector("pos", Spring.GetUnitPosition(u)), "\n")
		put("\t\t\t", vector("speed", Spring.GetUnitVelocity(u)), "\n")
		put("\t\t\theading: ", Spring.GetUnitHeading(u), "\n")
		put("\t\t\t", string.format("health: %.9g, experience: %.9g", (Spring.GetUnitHealth(u)), (Spring.GetUnitExperience(u))), "\n")
		local queue = Spring.GetCommandQueue(u, -1)
		put("\t\t\tcommandAI:\n\t\t\t\tcommandQue.size(): ", #queue, "\n")
		for _, c in ipairs(queue) do
			put("\t\t\t\t\tcommandID: ", c.id, "\n\t\t\t\t\t\tparams: ", #c.params, "\n")
			for _, p in ipairs(c.params) do put("\t\t\t\t\t\t\t", string.format("%.9g", p), "\n") end
		end
	end
	put("\tfeatures: 0\n\tprojectiles: 0\n")
	local teams = Spring.GetTeamList()
	put("\tteams: ", #teams, "\n")
	for _, t in ipairs(teams) do
		put("\t\tteamID: ", t, "\n")
		put("\t\t\t", string.format("metal: %.9g, energy: %.9g", (Spring.GetTeamResources(t, "metal")), (Spring.GetTeamResources(t, "energy"))), "\n")
	end
	if Script.LuaUI("WitnessDump") then Script.LuaUI.WitnessDump(table.concat(out)) end
end

function gadget:GameFrame(n)
	if n % period == 0 then dump(n) end
	if n == pokeFrame and Script.LuaUI("WitnessPoke") then
		local units = Spring.GetAllUnits()
		table.sort(units)
		local u = units[1 + pokeUnit % #units]
		local x, y, z = Spring.GetUnitPosition(u)
		local sx, sy, sz = Spring.GetUnitVelocity(u)
		Script.LuaUI.WitnessPoke(string.format("%d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", u, x, y, z, sx, sy, sz, (Spring.GetUnitHealth(u)), (Spring.GetUnitExperience(u))))
	end
end
`,
	"luaui.lua": `local options = Spring.GetModOptions()
local me, team = Spring.GetMyPlayerID(), Spring.GetMyTeamID()
local lastFrame = tonumber(options.lastframe)
local pokePlayers = tonumber(options.pokeplayers)
math.randomseed(1000 + me)

local file
function WitnessDump(text)
	if not file then
		file = io.open("GameState.txt", "w")
		file:write(" mapName: ", Game.mapName, "\n modName: ", Game.modName, "\n")
	end
	file:write(text)
	file:flush()
end

-- Those who are to be poked wait at the start of a frame until they have been.
function WitnessPoke(text)
	if Spring.IsReplay() or math.floor(pokePlayers / 2 ^ me) % 2 == 0 then return end
	local f = io.open("poke-ready.tmp", "w")
	f:write(text)
	f:close()
	os.rename("poke-ready.tmp", "poke-ready.txt")
	while not io.open("poke-done.txt") do end
end

function GameFrame(n)
	if Spring.IsReplay() then return end
	if n >= lastFrame + 40 * (1 - math.min(1, me)) then Spring.SendCommands("quitforce") end
	if n % 25 == (7 * me) % 25 then
		local units = Spring.GetTeamUnits(team)
		if #units > 0 then
			table.sort(units)
			local x, z = 100 + math.random(824), 100 + math.random(824)
			Spring.GiveOrderToUnit(units[math.random(#units)], CMD.FIGHT, {x, Spring.GetGroundHeight(x, z), z}, {})
		end
	end
end
`,
}
