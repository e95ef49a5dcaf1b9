class Planter extends AIController {
	function Start() {
		AICompany.SetLoanAmount(AICompany.GetMaxLoanAmount());
		for (local n = 0; true; n++) {
			local tile = AIBase.RandRange(AIMap.GetMapSize());
			if (AIMap.IsValidTile(tile)) {
				AITile.PlantTree(tile);
				if (n % 5 == 0) AISign.BuildSign(tile, "sign " + n);
			}
			this.Sleep(40);
		}
	}
}
