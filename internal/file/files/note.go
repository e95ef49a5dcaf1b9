package files

// Note is a message about a file or folder: that it was lost, and why, or that something is unusual.
type Note struct {
	Path string // of the file or folder, empty if there are several
	Why  Why
	Text string // a sentence, which names the path
}

// Why is the reason why a file was lost.
type Why int

// The reasons.
const (
	Unreadable Why = iota // damaged, or of an unsupported kind
	Encrypted
	OverLimit // the user may raise the limit
)

// Notes are notes in the order in which they were added.
type Notes []Note

// Texts returns the sentences.
func (n Notes) Texts() (texts []string) {
	for _, note := range n {
		texts = append(texts, note.Text)
	}
	return texts
}
