//go:build !unix

package main

// specialFolders returns cases of what only a Unix has.
func specialFolders([]string) []hostile { return nil }
