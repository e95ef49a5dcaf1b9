package files

// Note is what there is to say of a file or folder that was looked at: that it was lost, and why, or
// what is odd about it.
type Note struct {
	Path string // of the file or folder, empty if it is about several
	Why  Why
	Text string // a sentence, which names the path
}

// Why is why a file was lost.
type Why int

// Why files are lost.
const (
	Unreadable Why = iota // damaged, or of a kind that is not read
	Encrypted
	OverLimit // whoever reads it may raise the limit
)

// Notes are notes in the order in which they were made.
type Notes []Note

// Texts returns the sentences.
func (n Notes) Texts() (texts []string) {
	for _, note := range n {
		texts = append(texts, note.Text)
	}
	return texts
}
