package statements

import (
	"slices"
	"strings"
)

// maxOwner is how many bytes the label of a log has at most.
const maxOwner = 40

// maxNumber is how many bytes the number or the letter of a machine has at most.
const maxNumber = 2

// logs are words of labels that do not name the machine of a log.
const logs = "log|logs|output|console|trace|the|of|on|from"

// ownerAbove returns the machine of a log in the line above the fence that the log begins with: Node A:, ## Client log. It is
// empty if there is none. Fences are empty lines here.
func ownerAbove(before []string) string {
	i := len(before) - 1
	for i >= 0 && strings.TrimSpace(before[i]) != "" {
		i--
	}
	for i >= 0 && strings.TrimSpace(before[i]) == "" {
		i--
	}
	if i < 0 {
		return ""
	}
	label := strings.TrimSpace(before[i])
	if len(label) > maxOwner || !strings.HasPrefix(label, "#") && !strings.HasSuffix(label, ":") {
		return ""
	}
	words := slices.DeleteFunc(strings.Fields(strings.Trim(label, "#:* ")), func(w string) bool { return oneOf(strings.ToLower(w), logs) })
	if len(words) == 0 || len(words) > 2 || !(peerNouns | roles).has(strings.ToLower(words[0])) || len(words) == 2 && len(words[1]) > maxNumber {
		return ""
	}
	return strings.Join(words, " ")
}
