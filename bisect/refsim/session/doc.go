// Package session plays the reference sim as several peers, records what each
// of them would leave behind, and knows the truth about what went wrong.
//
// [Record] steps all peers side by side with the same orders, except for what one
// of them loses. It hands everything that belongs into a file to a [Sink]:
// headers, ticks and hashes for the order logs, worlds for the snapshots, and
// the moments after each system for traces. The [Truth] it returns comes from
// comparing the peers' typed columns after every system of every tick, without
// any hash and without any of the code that it is there to test.
package session
