// Package docs holds the documents that reports quote.
package docs

import _ "embed" // for the documents

// Causes is causes.md: the classes of mistakes, each under a heading of its name.
//
//go:embed causes.md
var Causes string
