// Package desk stores the reports of many desyncs, and groups the reports of one bug.
//
// A bundle is a file, an archive or a folder that was sent to the desk. It is stored once, by the SHA-256 of its
// content, and has a receipt for each arrival. Each match in it has a report: the output of the triage (a document),
// and the data by which it is found and counted.
//
// Reports with the same key (see KeyOf) belong to one group. Within it, reports with the same strict fingerprint belong
// to one variant. This depends only on the report, so the order in which reports arrive makes no difference. People
// correct the groups: a merge moves the variants of a group to another one, a split moves some to a new group, and
// later reports follow.
//
// A Store is a folder with an SQLite database, or a PostgreSQL database. Both have the same schema (migrations) and run
// the same statements (sql). All data derived from a report is written in the same transaction as the report. Counts by
// build, day and platform are stored for each variant, so lists need not count reports.
//
// Times of matches come from the evidence. Receipts and events have the time of this machine.
package desk
