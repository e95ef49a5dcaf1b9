// Package pseudonyms keeps the names and addresses of players out of a store of reports.
//
// A [Key] gives each name a pseudonym, which is the same in all reports of a store. A player's reports can therefore be
// found and deleted by name, while nobody without the key can find out which name a pseudonym replaces. A [Scrubber] is
// used for one bundle. Its Open reads the evidence in such a way that no report ever contains a name: sentences contain
// names, and replacing them afterwards would hit words. Its Report then replaces quotations from files, and addresses.
// Its Copy writes the bundle without names if the format is desynctool's own. docs/privacy.md lists what is replaced
// where, and what is not.
package pseudonyms
