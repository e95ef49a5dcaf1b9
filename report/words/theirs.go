package words

import (
	"reflect"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// theirs returns a copy of the data for sentences, with every name from a file made fit for a sentence. Texts that are
// not names stay as they are.
func theirs[T any](v T) T {
	return fit(reflect.ValueOf(&v).Elem(), prose.Name).Interface().(T)
}

// asIs are the fields that sentences take as they are: messages and names that are quoted where they are used, our own
// texts, values in the notation of the text twin, paths for commands, and texts that no sentence uses. Every other
// string is a name, or belongs to a moment.
var asIs = map[reflect.Type][]string{
	reflect.TypeFor[verdict.Conclusion](): {
		"Lost", "Notes", "Warnings", "Ask", "SimFailed", "Given", "Files", "Simulators", "Fingerprint", "Levels",
		"Cascade", "Orders", "Timeline", "Names", "Tree", "Heat", "Map", "Session", "Likenesses", "Engine", "Replayer",
	},
	reflect.TypeFor[verdict.Contradiction]():       {"Text"},
	reflect.TypeFor[verdict.Inputs]():              {"Line", "Basis"},
	reflect.TypeFor[verdict.Checkpoint]():          {"Values"},
	reflect.TypeFor[verdict.Checksums]():           {"By"},
	reflect.TypeFor[verdict.Experiment]():          {"Sim", "Why"},
	reflect.TypeFor[verdict.Need]():                {"Files", "How"},
	reflect.TypeFor[verdict.Prospect]():            {"By"},
	reflect.TypeFor[verdict.Search]():              {"Kinds"},
	reflect.TypeFor[verdict.Sign]():                {"Names"},
	reflect.TypeFor[verdict.Word]():                {"Engine"},
	reflect.TypeFor[document.Code]():               {"Why", "By", "Values", "Branches", "Writes"},
	reflect.TypeFor[document.ClaimDocument]():      {"Text", "Contradictions", "Omits", "Detail"},
	reflect.TypeFor[document.CheckpointDocument](): {"Kind", "Values"},
	reflect.TypeFor[document.Entity]():             {"Kind", "Key", "Name", "Place"},
	reflect.TypeFor[document.FieldDocument]():      {"Key", "Difference"},
	reflect.TypeFor[document.GameLogLine]():        {"Text", "Severity"},
	reflect.TypeFor[document.LocusRows]():          {"Keys"},
	reflect.TypeFor[document.Parting]():            {"By"},
	reflect.TypeFor[bisect.Witnessed]():            {"Spec", "Game", "Failed", "Forced"},
	reflect.TypeFor[bisect.WitnessedReplay]():      {"Why"},
	reflect.TypeFor[orderlog.PeerClaim]():          {"Text"},
	reflect.TypeFor[orderlog.PayloadDiff]():        {"Base", "Peer"},
	reflect.TypeFor[tracediff.Claim]():             {"Text", "Detail"},
}

// notNames are the fields with maps by peer that have values other than names.
var notNames = []string{"Values", "Types", "Raw", "Paths"}

// paths are the fields with a path.
var paths = []string{"File", "Files"}

// moments are the fields with an engine's name of a moment.
var moments = []string{"Native", "NativeAfter", "NativeBefore", "NativeFrom", "NativeTo"}

// fit returns a copy of a value with every string made fit. Unexported fields of structs stay.
func fit(v reflect.Value, of func(string) string) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() { // our own words have other types
			return reflect.ValueOf(of(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out := reflect.New(v.Type().Elem())
			out.Elem().Set(fit(v.Elem(), of))
			return out
		}
	case reflect.Slice:
		if !v.IsNil() && !scalar(v.Type().Elem()) {
			out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				out.Index(i).Set(fit(v.Index(i), of))
			}
			return out
		}
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			out.Index(i).Set(fit(v.Index(i), of))
		}
		return out
	case reflect.Map:
		if !v.IsNil() {
			out := reflect.MakeMapWithSize(v.Type(), v.Len())
			for key, value := range v.Seq2() {
				out.SetMapIndex(fit(key, prose.Name), fit(value, of))
			}
			return out
		}
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || slices.Contains(asIs[v.Type()], field.Name) {
				continue
			}
			of := prose.Name
			switch {
			case slices.Contains(paths, field.Name):
				of = prose.Path
			case slices.Contains(moments, field.Name):
				of = prose.Moment
			case field.Type.Kind() == reflect.Map && slices.Contains(notNames, field.Name):
				of = func(s string) string { return s }
			}
			out.Field(i).Set(fit(v.Field(i), of))
		}
		return out
	}
	return v
}

func scalar(t reflect.Type) bool { return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128 }
