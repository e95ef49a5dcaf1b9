VFS.Include("LuaGadgets/gadgets.lua", nil, VFS.BASE)
