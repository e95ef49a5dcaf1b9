local base = piece("base")
function script.Create() end
function script.QueryWeapon() return base end
function script.AimFromWeapon() return base end
function script.AimWeapon() return true end
function script.Killed() return 1 end
