// Package journal is an append-only log of what changes in a state that is kept in memory.
//
// It consists of files of one size, each of which can be read on its own: who a record is about is
// declared in every file that tells of it. The oldest file is emptied: its user appends anew what in
// it is still true, and it is removed. So there is no snapshot that everybody waits for, and the
// journal is never much larger than the state.
//
// A record is in the page cache before Append returns, so a kill loses nothing. What was synced is
// told by the header of the next file and by marks between the records: behind that, a power cut may
// have left anything, and the journal ends at the first record that is not sound; before it, such a
// record is damage, and what is sound behind it is used.
//
// A file begins with a header of 64 bytes, big-endian: "WMQPOPJ1", its number, the number of the
// oldest file, the end of the file before it, what is durable (a file's number and an offset), the
// store's epoch, the user's note, and a CRC-32C of these. A record is a CRC-32C (4 bytes), the length
// of its payload (2), its kind (1) and the payload; the CRC is also of the file's number and of where
// the record begins, so that what an earlier file left in the same blocks is not sound.
package journal
