// Package render shows the content of a desk: as text, as JSON, CSV and Markdown, and for continuous integration
// systems. It makes no queries and no decisions.
package render
