// Package web contains the pages of a desk: groups, reports, comparisons of two reports, bundles, and the forms with
// which people correct groups.
//
// Pages are made on the server and need no script. Filters and searches are links and GET forms, changes are POST
// forms, and the answer to each change contains a form that reverts it. A small script moves the focus with keys and
// accepts dropped files. The style is the same as on a report's page (report/page), with the same colours and type.
//
// The data in a store comes from players. Templates escape it by context, and every value first goes through
// document.Safe. The Content-Security-Policy of each page lets it load its own style and script, and nothing else.
//
// Permissions are not decided here: Config.Of returns them for each request.
package web
