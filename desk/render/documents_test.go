package render

import (
	"reflect"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
	"github.com/desynctool/desynctool/internal/testkit/schemas"
)

// TestSchema holds docs/desk.schema.json against the types of the desk's documents.
func TestSchema(t *testing.T) {
	pinned.File(t, "../../docs/desk.schema.json", schemas.Write(schemas.Documents("documents of a desk", "What the commands of desynctool desk write with --format json. Lists are never left out. Times are RFC 3339, in UTC, to the second. No document has a secret.", map[string]reflect.Type{
		"desk-tokens/1": reflect.TypeFor[Tokens](), "desk-shares/1": reflect.TypeFor[Shares](), "desk-webhooks/1": reflect.TypeFor[Webhooks](), "desk-audit/1": reflect.TypeFor[Audit](),
		"desk-uploads/1": reflect.TypeFor[Uploads](), "desk-add/1": reflect.TypeFor[Adding](), "desk-again/1": reflect.TypeFor[Again](), "desk-work/1": reflect.TypeFor[Work](),
		"desk-doctor/1": reflect.TypeFor[Doctor](), "desk-edit/1": reflect.TypeFor[editDocument](), "desk-list/1": reflect.TypeFor[groupsDocument](), "desk-reports/1": reflect.TypeFor[reportsDocument](),
		"desk-group/1": reflect.TypeFor[groupDocument](), "desk-new/1": reflect.TypeFor[sinceDocument](), "desk-top/1": reflect.TypeFor[topDocument](), "desk-stats/1": reflect.TypeFor[statsDocument](),
		"desk-check/1": reflect.TypeFor[checkDocument](),
	})))
}
