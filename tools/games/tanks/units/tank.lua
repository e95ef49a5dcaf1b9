return {tank = {
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
