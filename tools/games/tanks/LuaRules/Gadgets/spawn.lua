function gadget:GetInfo() return {name = "Spawn", layer = 0, enabled = true} end
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
