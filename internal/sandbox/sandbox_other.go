//go:build !linux && !darwin

package sandbox

func host() means { return means{} }
