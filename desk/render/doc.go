// Package render shows what a desk has: as text for people, as JSON, CSV and Markdown, and for systems of
// continuous integration. It asks and decides nothing.
package render
