package tracediff

import (
	"bytes"
	"io"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	text := textOf(session(20_000))
	encoded, err := encodeText(string(text))
	if err != nil {
		b.Fatal(err)
	}
	for _, form := range []struct {
		name    string
		content []byte
	}{{"text", text}, {"binary", encoded}} {
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.content)))
			b.ReportAllocs()
			records := 0
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(form.content), "bench", ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				records = 0
				for {
					if _, err := r.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
					records++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
		})
	}
}

func BenchmarkParseLine(b *testing.B) {
	line := []byte("tick=123456 system=Movement scope=Position n=250 sum=0x6a09e667bb67ae85")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var f fields
	interned := new(names)
	for b.Loop() {
		if err := f.parse(line, interned); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	rows := session(100_000)
	content := textOf(rows)
	other := append([]row(nil), rows...)
	for i := len(other) / 2; i < len(other); i++ {
		other[i].sum = "ff" + other[i].sum[2:]
	}
	a := open(b, "a.txt", content)
	for _, pair := range []struct {
		name  string
		other []byte
	}{{"identical", content}, {"half differs", textOf(other)}} {
		list := append(a[:1:1], open(b, pair.name+".txt", pair.other)...)
		b.Run(pair.name, func(b *testing.B) {
			b.SetBytes(2 * int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compare(list, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	text := textOf(session(5000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := ParseText(io.Discard, bytes.NewReader(text), "bench"); err != nil {
			b.Fatal(err)
		}
	}
}

// A line that is like the one before takes no memory.
func TestAllocations(t *testing.T) {
	text := textOf(session(3000))
	r, err := NewReader(bytes.NewReader(text), "bench", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		r.Next()
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a record, expected none", n)
	}
}
