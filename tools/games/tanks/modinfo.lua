return {name = "Witness Tanks", version = "1", modtype = 1, depend = {"Spring content v1", "Spring Cursors"}}
