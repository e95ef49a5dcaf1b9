package widelands

import "strings"

// Peer returns the peer that wrote a file, from its name: "host" of 2026-11-20T08.55.13_nethost.wrpl.wss, "client 1" of
// 2026-11-20T08.55.14_netclient_1.wrpl, else "".
func Peer(path string) string {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	_, what, ok := strings.Cut(base, "_net")
	if !ok {
		return ""
	}
	if strings.HasPrefix(what, "host.wrpl") {
		return "host"
	}
	number, ok := strings.CutPrefix(what, "client_")
	if !ok {
		return ""
	}
	number, _, ok = strings.Cut(number, ".wrpl")
	if !ok || len(number) == 0 || len(number) > 3 || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return "client " + number
}
