// Package processgroup ends programs together with all that they started.
package processgroup
