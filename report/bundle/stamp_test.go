package bundle

import (
	"testing"
	"time"
)

// TestStamps: dates as loggers and games write them, by hand.
func TestStamps(t *testing.T) {
	for line, want := range map[string]string{
		"[2026-04-28 20:04:20] dbg: [net:9]":               "2026-04-28T20:04:20Z",
		"2026-03-02T18:04:11.120411Z  INFO ggrs":           "2026-03-02T18:04:11Z",
		"   0.000 2023-10-05 21:44:07; Factorio 1.1.91":    "2023-10-05T21:44:07Z",
		"2023-10-05 21:44:07,123+02:00 x":                  "2023-10-05T19:44:07Z",
		"2023-13-05 21:44:07":                              "",
		"2023-10-05 21:44":                                 "",
		"at 2023-10-05 21:44:07":                           "",
		"":                                                 "",
		"info    |08:58:51: [multiGameInit:420] map ready": "",
		"2023-10-05 21:44:07 + 2":                          "2023-10-05T21:44:07Z",
		"1999-10-05 21:44:07":                              "",
	} {
		var p period
		if p.add(stamp([]byte(line))); said(p) != want {
			t.Errorf("%q: %s, expected %s", line, said(p), want)
		}
	}
	for name, want := range map[string]string{
		"20261120_085851_multiplay_p0.wzrp": "2026-11-20T08:58:51Z", "2026-11-20T08.55.14_netclient_1.wrpl": "2026-11-20T08:55:14Z",
		"syncreport-2023-11-05T181504Z-2.log": "2023-11-05T18:15:04Z", "desync_0000000000000309_0020261120.snap": "",
		"dmp_cmds_00000309_000adec0.sav": "", "20261320_085851.log": "", "x120261120_085851.log": "",
	} {
		var p period
		if p.add(timeInName(name)); said(p) != want {
			t.Errorf("%s: %s, expected %s", name, said(p), want)
		}
	}
}

// TestStated: our headers state a time in one way.
func TestStated(t *testing.T) {
	for value, want := range map[string]string{"2026-11-20T10:58:51+02:00": "2026-11-20T08:58:51Z", "2026-11-20": "", "yesterday": "", "": "", "9999-11-20T10:58:51Z": ""} {
		var p period
		if p.add(statedTime(map[string]string{RecordedFact: value})); said(p) != want {
			t.Errorf("%q: %s, expected %s", value, said(p), want)
		}
	}
}

func said(p period) string {
	if p.first.IsZero() {
		return ""
	}
	return p.first.Format(time.RFC3339)
}
