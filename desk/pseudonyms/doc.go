// Package pseudonyms keeps the names and addresses of players out of a store of reports.
//
// A [Key] gives each name a pseudonym: the same one in all reports of a store, so that a player's
// reports are found and deleted by the name, while nobody without the key can tell whose a
// pseudonym is. A [Scrubber] is for one bundle. Its Open has evidence read so that no report is ever
// made with a name: sentences are made of names, and replacing them afterwards would hit words. Its
// Report then replaces what was quoted from files, and addresses. Its Copy writes the bundle without
// names where the format is ours. docs/privacy.md has what is replaced where, and what is not.
package pseudonyms
