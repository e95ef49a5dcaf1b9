// Package evidence says what the artifacts below some paths are, and whose.
package evidence
