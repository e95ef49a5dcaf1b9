// Package server makes a desk available by HTTP. It contains access control, uploads, the feed, webhooks, and the links
// for players. docs/desk-upload.md specifies it.
//
// A desk that never had a token is open to clients on this machine, under a name of this machine. Once there is a
// token, everything requires one. A Door passes requests that it does not serve itself to the pages, together with the
// visitor (VisitorOf).
//
// Everything that is acknowledged is on stable storage: the bundle in the blob store, and its row and its job in one
// transaction.
package server
