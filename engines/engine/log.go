package engine

// Log describes the special features of an engine's logs. The reader knows the features that all logs share.
type Log struct {
	// Logger is the program that writes such logs, as reports name it. It is empty for a game that shares its log
	// format with other games of an engine; such a Log has only Calls and Names.
	Logger string

	// Marks are texts that only its lines have.
	Marks []Mark

	// Page means that the log is an HTML page with the messages as paragraphs.
	Page bool

	// ManyGames means that games of many makers have such logs, and name versions and maps as they like.
	ManyGames bool

	// Facts takes the facts about the game and the machine from a message, nil if no message has a special form for
	// them. docs/recording.md has the names of facts.
	Facts func(message []byte, to FactTaker)

	// Tick returns the tick that a message names, in the engine's unit; empty if it names none. Nil means that ticks
	// are where logs of all engines have them. Messages that name one have one of the texts Telling.
	Tick    func(message []byte) (unit string, tick uint64)
	Telling []string

	// Calls are the functions by which scripts log, in the stack that follows a message; lines of the stack begin with
	// Stack. They show the severity of a message without a level.
	Calls []Call
	Stack string

	// Names are the facts that lines "name: value" state, by the name in lower case.
	Names map[string]string
}

// Mark is a text that only lines of one logger have: at their beginning, or anywhere in the first 200 bytes.
type Mark struct {
	Text  string
	Begin bool
}

// Call is a function that logs.
type Call struct {
	Function string
	Severity string // warning, error, assertion or exception
}

// FactTaker takes a log's facts about the game and the machine.
type FactTaker interface {
	Know(name string, value []byte) // a fact; the first of a name counts
	Mod(name string)                // one of the mods, with its version if the log has that
}
