return VFS.Include("LuaGadgets/Gadgets/unit_script.lua", nil, VFS.BASE)
