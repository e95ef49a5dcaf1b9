package zeroad
import ("testing";"time";"os";"bytes")
func FuzzHang(f *testing.F) {
	f.Add([]byte(everything))
	for _, file := range realDumps(f)[:3] {
		text := plain(f, file)
		f.Add(text[:20_000])
		f.Add(append([]byte("entities:\n"), text[bytes.Index(text, []byte("- id: 3\n")):bytes.Index(text, []byte("- id: 13\n"))]...))
		f.Add(content(f, file))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tm := time.AfterFunc(3*time.Second, func() { os.WriteFile("/tmp/za/hang", text, 0o666); panic("hang") })
		valid(t, text)
		tm.Stop()
	})
}
