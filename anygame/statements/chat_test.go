package statements_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/statements"
)

// TestChat: a program that writes down what players write does not report a desync.
func TestChat(t *testing.T) {
	for _, line := range []string{
		`{"level":30,"mod":"chat","from":"dov","text":"desync??"}`,
		`{"type": "ChatMessage", "player": "dov", "text": "we are out of sync"}`,
		`[INFO] ChatManager: message from dov: desync!!`,
		`INFO chat: dov wrote "desync again"`,
	} {
		log, err := statements.Scan(strings.NewReader("loading\n"+line+"\nping 12\n"), "game.log")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range log.Claims {
			if !c.Quoted {
				t.Errorf("%s: a claim of the program: %q", line, c.Text)
			}
		}
	}
	log, err := statements.Scan(strings.NewReader(`{"level":50,"mod":"sync","msg":"desync at tick 5"}`+"\n"), "game.log")
	if err != nil || len(log.Claims) != 1 || log.Claims[0].Quoted {
		t.Errorf("%v, %v", log, err)
	}
}
