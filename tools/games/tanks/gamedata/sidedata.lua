return {{name = "Tanks", startUnit = "tank"}}
