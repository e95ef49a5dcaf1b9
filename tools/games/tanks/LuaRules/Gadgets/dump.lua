function gadget:GetInfo() return {name = "Dump", layer = 1000, enabled = true} end
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
