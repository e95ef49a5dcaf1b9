package spring

// Reset is the number of frames after which the checksum starts over: after
// each frame that it divides.
const Reset = 4096
