package server

import (
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"
)

// FuzzHeaders: headers of an upload are read, or refused; the values that are read are the ones that were written.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"filename YS56aXA=", "filename YS56aXA=,build MS40", "a", ",", "filename !", " filename  YQ==", "sha1 2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha1 x", "sha256", "18446744073709551616", "-1", "0x10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		about, err := parseMetadata(s, "filename", "build")
		if err == nil && len(about) > 2 {
			t.Errorf("%q: %q", s, about)
		}
		written := "x,filename " + base64.StdEncoding.EncodeToString([]byte(s)) + ",other " + base64.StdEncoding.EncodeToString([]byte("y"))
		if about, err := parseMetadata(written, "filename"); err != nil || len(about) != 1 || about["filename"] != s {
			t.Errorf("%q: %q %v", written, about, err)
		}
		if c, err := parseChecksum(s); err == nil && c != nil && len(c.want) != c.Size() {
			t.Errorf("%q: a checksum of %d bytes", s, len(c.want))
		}
		if n, err := headerNumber(map[string][]string{"Upload-Offset": {s}}, "Upload-Offset"); err == nil && (n < 0 || strings.Trim(s, "0123456789") != "") {
			t.Errorf("%q is %d", s, n)
		}
	})
}

// TestPublic: the networks in which a webhook may have its address.
func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:93.184.216.34": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false,
		"255.255.255.255": false, "224.0.0.1": false, "240.0.0.1": false, "::1": false, "::": false, "fe80::1": false, "fc00::1": false, "ff02::1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::a00:1": false, "2002:a00:1::1": false, "fec0::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
