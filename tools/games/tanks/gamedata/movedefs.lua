return {{name = "tank", footprintX = 2, footprintZ = 2, maxSlope = 60, crushStrength = 50}}
