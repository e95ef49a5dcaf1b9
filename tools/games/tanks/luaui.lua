local options = Spring.GetModOptions()
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
