// Package desk keeps the reports of many desyncs, and puts those of one bug together.
//
// A bundle is what somebody sent: a file, an archive, or a folder. It is kept once, by the
// SHA-256 of its content, and has a receipt for each time that it came. Each match in it has a
// report: what triage wrote of it (a document), and what it is found and counted by.
//
// Reports of one key (see KeyOf) are of one group, and those whose strict fingerprint is the
// same as well are of one variant of it. That depends on the report alone, so the order in which
// reports come makes no difference. People correct it: a merge moves the variants of a group to
// another one, a split moves some to a group of their own, and later reports follow.
//
// A Store is a folder with an SQLite database, or a PostgreSQL database. Both have the same
// schema (migrations) and run the same statements (sql). All that follows from a report is
// written in the transaction that writes the report: counts by build, day and platform are
// kept by variant, and lists need not count reports.
//
// Times of matches are those that the evidence has. Receipts and events have the time of this
// machine.
package desk
