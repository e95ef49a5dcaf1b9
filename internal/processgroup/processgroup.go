// Package processgroup ends programs together with all of their children.
package processgroup
