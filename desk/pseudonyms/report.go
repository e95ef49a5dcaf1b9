package pseudonyms

import (
	"encoding/hex"
	"reflect"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// kind is the kind of a text in a report.
type kind int

const (
	sentence  kind = iota // written by desynctool: only names that are not words of its own sentences count, and paths
	quote                 // copied from a file
	payload               // bytes of an order, in hex digits
	fixedText             // written by desynctool, without names
)

// kinds are the kinds of fields that are not sentences, by type and name. Map keys are sentences.
var kinds = map[string]kind{
	"ClaimDocument.Text":   quote,
	"DetailDocument.Text":  quote,
	"DetailDocument.Aside": quote,
	"GameLogLine.Text":     quote,
	"FieldDocument.Values": quote,
	"FieldDocument.Key":    quote,
	"LocusRows.Keys":       quote,
	"Entity.Key":           quote,
	"Entity.Name":          quote,
	"MapEntity.Key":        quote,
	"TriagedOrder.Names":   quote,
	"TimelineMark.Text":    quote,
	"MatchDocument.Name":   quote,
	"Experiment.Sim":       quote,
	"FieldChange.Base":     quote,
	"FieldChange.Peer":     quote,
	"valueDocument.Sum":    quote,
	"valueDocument.Sums":   quote,

	"ReportedOrder.Payload": payload,

	"Head.Schema":        fixedText,
	"Head.Status":        fixedText,
	"Report.Fingerprint": fixedText,
	"Fingerprint.Digest": fixedText,
	"Fingerprint.Level":  fixedText,
	"Rung.Step":          fixedText,
	"Rung.State":         fixedText,
	"HeatRow.Differs":    fixedText,
	"HashTree.Roots":     fixedText,
	"TreeLeaf.Hashes":    fixedText,
	"LocusField.Raw":     fixedText,
	"Session.Seed":       fixedText,
	"LocusSchema.Types":  fixedText,
}

// personal are facts, properties and parameters about a person or a person's machine.
var personal = map[string]bool{
	"user": true, "username": true, "user_name": true, "user name": true, "login": true, "account": true, "nick": true, "nickname": true,
	"name": true, "player": true, "player_name": true, "player name": true, "hostname": true, "host_name": true, "host name": true,
	"computer": true, "computername": true, "machine": true, "machine_name": true, "steam_id": true, "steamid": true, "email": true, "e-mail": true,
}

// isPersonal reports whether a fact is about a person. Parameters are facts too, and names of players have numbers.
func isPersonal(name string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, "parameter "))
	if personal[name] {
		return true
	}
	number, is := strings.CutPrefix(name, "player")
	return is && number != "" && strings.Trim(number, " _-0123456789") == ""
}

// isVersion reports whether a fact's value may look like an address but is not one.
func isVersion(name string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, "parameter "))
	return slices.ContainsFunc([]string{"version", "build", "driver", "engine", "compiler", "gpu", "os", "mod", "data", "release"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// Report replaces the remaining names and addresses in all strings of a report about evidence that Open has opened. It
// replaces names in texts from files, in paths and in commands, and addresses everywhere except in versions.
func (s *Scrubber) Report(r *document.Report) { s.report(r, false) }

// Saved replaces names and addresses in reports that were made elsewhere, with the names of players. The names come
// from the reports' peers. Their sentences contain names, so every word in them that is a name is replaced.
func (s *Scrubber) Saved(list []*document.Report) {
	for _, r := range list {
		for i := range r.Peers {
			s.name(r.Peers[i].Name)
		}
		for _, facts := range [][]document.Fact{r.Facts, r.Stated} {
			for i := range facts {
				for peer := range facts[i].Values {
					s.name(peer)
				}
			}
		}
	}
	for _, r := range list {
		s.report(r, true)
	}
}

// report implements Report, and Saved if saved is set.
func (s *Scrubber) report(r *document.Report, saved bool) {
	w := &walker{s: s, saved: saved, versions: map[string]bool{}, changed: map[string]string{}}
	for _, facts := range [][]document.Fact{r.Facts, r.Stated} {
		for i := range facts {
			f := &facts[i]
			for peer, value := range f.Values {
				switch {
				case isPersonal(f.Name):
					f.Values[peer] = s.personal(value)
				case isVersion(f.Name):
					for _, part := range strings.Fields(value) {
						w.versions[strings.Trim(part, ",;()\"'")] = true
					}
				}
			}
		}
	}
	for _, part := range strings.Fields(r.Session.Build + " " + r.Session.Game) {
		w.versions[strings.Trim(part, ",;()\"'")] = true
	}
	s.prepare()
	for i := range r.Fingerprints {
		if f := &r.Fingerprints[i]; f.Level == document.LevelMessage { // it repeats the words of a message
			f.Name = s.inQuote(f.Name, w.versions)
		}
	}
	w.collect = true
	w.value(reflect.ValueOf(r), sentence)
	for old, with := range w.changed {
		w.pairs = append(w.pairs, pair{old, with})
	}
	longestFirst(w.pairs)
	w.collect = false
	w.value(reflect.ValueOf(r), sentence)
}

// personal replaces the value of a personal fact, unless it only shows whether there is one.
func (s *Scrubber) personal(value string) string {
	switch strings.ToLower(value) {
	case "true", "false", "yes", "no", "none":
		return value
	}
	return s.name(value)
}

// walker visits all strings of a report twice. It collects quotations first, because sentences repeat them.
type walker struct {
	s        *Scrubber
	saved    bool // its sentences contain names
	versions map[string]bool
	collect  bool
	changed  map[string]string // quotations with replacements
	pairs    []pair            // the same, the longest first
}

func (w *walker) value(v reflect.Value, k kind) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem(), k)
		}
	case reflect.Struct:
		t := v.Type()
		for i := range v.NumField() {
			if !t.Field(i).IsExported() {
				continue
			}
			of, special := kinds[t.Name()+"."+t.Field(i).Name]
			if !special {
				of = k
			}
			w.value(v.Field(i), of)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.Kind() == reflect.Slice && v.CanSet() && !w.collect {
				v.SetBytes([]byte(w.s.inQuote(string(v.Bytes()), w.versions)))
			}
			return
		}
		for i := range v.Len() {
			w.value(v.Index(i), k)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value, name := reflect.New(v.Type().Elem()).Elem(), reflect.New(key.Type()).Elem()
			value.Set(v.MapIndex(key))
			name.Set(key)
			w.value(value, k)
			w.value(name, sentence)
			if !w.collect {
				v.SetMapIndex(key, reflect.Value{})
				v.SetMapIndex(name, value)
			}
		}
	case reflect.String:
		if w.collect {
			w.quotation(v.String(), k)
		} else if v.CanSet() {
			v.SetString(w.text(v.String(), k))
		}
	}
}

// quotation records the replacement of a quotation, in the forms in which sentences contain it. It skips single words,
// because sentences themselves contain these.
func (w *walker) quotation(text string, k kind) {
	if k != quote || !strings.ContainsFunc(text, func(r rune) bool { return strings.ContainsRune(" \"'“:/\\.@", r) }) {
		return
	}
	with := w.s.inQuote(text, w.versions)
	if with == text {
		return
	}
	w.changed[text] = with
	w.changed[prose.Quote(text)] = prose.Quote(with)
	w.changed[prose.Name(text)] = prose.Name(with)
	w.changed[prose.Printable(text)] = prose.Printable(with)
}

func (w *walker) text(text string, k kind) string {
	switch k {
	case fixedText:
		return text
	case quote:
		return w.s.inQuote(text, w.versions)
	case payload:
		b, err := hex.DecodeString(text)
		if err != nil {
			return w.s.inQuote(text, w.versions)
		}
		return hex.EncodeToString([]byte(w.s.inQuote(string(b), w.versions)))
	}
	if w.saved {
		if with := w.s.known[text]; with != "" {
			return with
		}
		text = w.s.replaced(text, w.s.quoted)
	}
	for _, p := range w.pairs {
		text = strings.ReplaceAll(text, p.old, p.new)
	}
	return w.s.inSentence(text, w.versions)
}

// inSentence replaces paths, addresses, and names that are not words of desynctool's own sentences.
func (s *Scrubber) inSentence(text string, versions map[string]bool) string {
	for _, p := range s.paths {
		text = replaceWhole(text, p.old, p.new)
	}
	return s.addresses(s.replaced(text, s.apart), versions)
}
