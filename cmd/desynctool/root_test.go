package main

import (
	"testing"

	"github.com/desynctool/desynctool/internal/cli"
	"github.com/desynctool/desynctool/internal/cli/clitest"
)

// fresh returns the program with an environment of its own.
func fresh() cli.Program { return program(new(env)) }

func TestHelp(t *testing.T) { clitest.Helps(t, fresh, 25) }

func TestManPages(t *testing.T) { clitest.ManPages(t, fresh, 25) }

func TestStart(t *testing.T) { clitest.Start(t, "desynctool") }

func TestScript(t *testing.T) { clitest.Scripts(t, "desynctool") }
