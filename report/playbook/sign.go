package playbook

import "github.com/desynctool/desynctool/orderlog"

// SignKind is what speaks for a cause.
type SignKind int

// Signs, with what they hold beside their kind.
const (
	OnlySumsDiffer    SignKind = iota // the states are equal while the checksums differ
	SumsAreBlind                      // the states differ while every checksum agrees
	CacheRecomputed                   // a game computed derived data anew and found it wrong; Names: the peer, what it wrote
	OrdersDiffer                      // the peers were given different orders; Order: how the first one differs
	CachesBefore                      // derived data differed under equal states before these parted; Names: the caches
	StartDiffers                      // the states differ before any tick was played
	FactDiffers                       // a fact of the game is not the same on all peers; Names: the fact, then its values
	Extent                            // how much differs; Numbers: entities, archetypes, columns
	EqualAgain                        // the states are equal again later
	OnlyFloats                        // nothing but floats differ; Numbers: units in the last place at most
	FarFloats                         // floats differ by much, in several entities
	NamedByOrder                      // every entity that differs is named by an order of the tick, and the orders are equal; Names: the kind of order
	NamedByUncompared                 // the same, and the orders of some peers are not there to be compared
	OneBit                            // one bit of one value differs
	ZeroOnOneSide                     // values of one field are zero on one side; Numbers: how many
	ValuesInOtherRows                 // the same values stand in other rows; Numbers: in how many columns
	CacheEntries                      // entries of derived data differ, though no entity came or went; Numbers: how many
	EachOthersKeys                    // new entities have each other's keys; Numbers: those on the first side only, on the second
	RNGFirst                          // the RNG differs after the first system
	RNGAtEnd                          // the RNG differs at the end of the divergent tick
	RNGLater                          // the RNG differs where the states were compared
	ColumnOneWay                      // the values of one column all differ one way
	OneColumn                         // one column differs
	NearlyAll                         // nearly all entities of one archetype differ
	SeveralKinds                      // entities of several archetypes differ
	FewEntities                       // few entities differ
	FewEntitiesMuch                   // few entities differ, in many columns
	OneKind                           // entities of one archetype differ
	NotExcluded                       // nothing excludes it
)

// Sign is one thing that the evidence shows, as far as it speaks for a cause.
type Sign struct {
	Kind    SignKind
	Numbers []uint64
	Names   []string
	Order   orderlog.DifferenceKind
}

func sign(kind SignKind, numbers ...uint64) Sign { return Sign{Kind: kind, Numbers: numbers} }

func signOf(kind SignKind, names ...string) Sign { return Sign{Kind: kind, Names: names} }
