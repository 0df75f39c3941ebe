// Package transaction keeps half messages until their producer commits them or rolls them back, and
// asks it when it does neither.
//
// A half message is a record of RMQ_SYS_TRANS_HALF_TOPIC; it stays where it is until its end. Ends
// are told by records of RMQ_SYS_TRANS_OP_HALF_TOPIC, whose bodies name queue offsets of the half
// topic. Both are the real broker's formats, and so are the consumer offsets of CID_RMQ_SYS_TRANS,
// below which all is ended. What is open is derived from them: in memory are a bit for each half
// message since the oldest open one, and sixteen bytes for each that has been open for long.
//
// A committed copy names its half message by PreparedTransactionOffset. A start finds the copies that
// no op record covers, so a commit that is repeated, before a kill or after it, stores nothing.
package transaction
