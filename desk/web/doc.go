// Package web is the pages of a desk: groups, reports, what two reports have in common, bundles,
// and the forms by which people correct groups.
//
// Pages are made on the server and need no script: filters and searches are links and GET
// forms, changes are POST forms, and each change answers with a form that takes it back. The little script
// there is moves the focus with keys and takes files that are dropped. The style is that of the page of a
// report (report/page), with which it shares colours and type.
//
// What a store holds came from players. Templates escape it by where it stands, and every value first
// goes through document.Safe. The Content-Security-Policy of each page lets it load its own style
// and script, and nothing else.
//
// Who may do what is not decided here: Config.Of says it of each request.
package web
