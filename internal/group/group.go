// Package group ends programs together with all that they started.
package group
