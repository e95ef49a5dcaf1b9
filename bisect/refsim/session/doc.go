// Package session plays the reference sim as several peers, records the files that each of them would leave, and knows
// what really went wrong.
//
// [Record] steps all peers side by side with the same orders, except for those that a peer loses. It hands everything
// for the files to a [Sink]: headers, ticks and hashes for the order logs, worlds for the snapshots, and the moments
// after each system for traces. The [Truth] it returns comes from comparing the peers' typed columns after every system
// of every tick, without any hash and without any of the code under test.
package session
