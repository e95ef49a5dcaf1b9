// Package docs holds the documents that the program quotes.
package docs

import _ "embed" // for the documents

// Causes is causes.md: the classes of mistakes, each under a heading of its name.
//
//go:embed causes.md
var Causes string

// Dependencies is dependencies.md: each module that desynctool is built from, with its licence.
//
//go:embed dependencies.md
var Dependencies string
