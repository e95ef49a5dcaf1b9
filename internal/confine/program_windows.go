package confine

import "os"

func minimal(home string) []string {
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "LOCALAPPDATA=" + home, "TMP=" + home, "TEMP=" + home}
	for _, name := range []string{"PATH", "PATHEXT", "SystemRoot", "SystemDrive", "ComSpec"} { // programs do not start without these
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}
