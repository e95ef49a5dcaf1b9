// Package server is how a desk is reached by HTTP: who may come in, uploads, the feed, webhooks, and the
// links that players get. docs/desk-upload.md specifies it.
//
// A desk that never had a token is open to those who reach it from this machine, by a name of this
// machine. Once a token was made, everything needs one. A Door hands what it does not serve itself to
// the pages, and says there who asks (VisitorOf).
//
// What is acknowledged is on stable storage: the bundle in the blob store, its row and its job in one
// transaction.
package server
