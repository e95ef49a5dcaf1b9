package verdict

import "github.com/desynctool/desynctool/orderlog"

// SignKind is what speaks for a cause.
type SignKind int

// Signs, and the contents of their fields.
const (
	OnlySumsDiffer    SignKind = iota // the states are equal while the checksums differ
	SumsAreBlind                      // the states differ while every checksum agrees
	CacheRecomputed                   // a game computed derived data again and found it wrong; Names: the peer, the data
	CachesUnderEqual                  // derived data differs under equal states
	OrdersDiffer                      // the peers were given different orders; Order: how the first one differs
	CachesBefore                      // derived data differed earlier, under equal states; Names: the caches
	StartDiffers                      // the states differ before any tick was played
	FactDiffers                       // a fact of the game is not the same on all peers; Names: the fact, then its values
	FactSame                          // a fact of a machine is the same on a peer that is right; Names: the fact, its value
	PartedByLoading                   // a peer diverged by loading a state; Names: the peer
	RestoredOther                     // a peer restored another state than it had saved; Names: the peer, the saved checksum, the restored one
	GuessKept                         // a peer guessed an input, another one came, and it did not go back to the tick; Names: the peer, the checksums of the guess and of the input; Numbers: the player
	LoadedThere                       // a peer loaded a state where the peers diverged; Names: the peer, the kind of marker; Numbers: the tick
	Experimented                      // an experiment; Names: its mode, the build
	OwnIsSound                        // the peer's own build comes to the others' state, in every experiment; Names: the build
	DecimalSigns                      // texts differ that are one number with another decimal sign
	EqualAgain                        // the states are equal again later
	OnlyFloats                        // nothing but floats differ, as after rounding; Numbers: in how many entities
	NamedByOrder                      // every entity that differs is named by an order of the tick, and the orders are equal; Names: the kind of order
	NamedByUncompared                 // the same, and the orders of some peers are not there to be compared
	OneBit                            // one bit of one value differs
	ZeroOnOneSide                     // values of one field are zero on one side; Numbers: how many
	ValuesInOtherRows                 // the same values are in other rows; Numbers: in how many columns
	EachOthersKeys                    // new entities have each other's keys; Numbers: those on the first side only, on the second
	CalledWhere                       // the code that decides calls a function, or is part of it; Names: the function
	RNGFirst                          // the RNG alone differs after the first system, or at the end of the tick
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

var signNames = [...]string{
	OnlySumsDiffer:    "OnlySumsDiffer",
	SumsAreBlind:      "SumsAreBlind",
	CacheRecomputed:   "CacheRecomputed",
	CachesUnderEqual:  "CachesUnderEqual",
	OrdersDiffer:      "OrdersDiffer",
	CachesBefore:      "CachesBefore",
	StartDiffers:      "StartDiffers",
	FactDiffers:       "FactDiffers",
	FactSame:          "FactSame",
	PartedByLoading:   "PartedByLoading",
	RestoredOther:     "RestoredOther",
	GuessKept:         "GuessKept",
	LoadedThere:       "LoadedThere",
	Experimented:      "Experimented",
	OwnIsSound:        "OwnIsSound",
	DecimalSigns:      "DecimalSigns",
	EqualAgain:        "EqualAgain",
	OnlyFloats:        "OnlyFloats",
	NamedByOrder:      "NamedByOrder",
	NamedByUncompared: "NamedByUncompared",
	OneBit:            "OneBit",
	ZeroOnOneSide:     "ZeroOnOneSide",
	ValuesInOtherRows: "ValuesInOtherRows",
	EachOthersKeys:    "EachOthersKeys",
	CalledWhere:       "CalledWhere",
	RNGFirst:          "RNGFirst",
}

// String returns the name of the kind.
func (k SignKind) String() string { return signNames[k] }
