// Package cases holds one test per problem that RocketMQ users reported in
// public. The doc comment of a test names its case (BR-nn); the test's own name
// says what a user would have seen. Every expectation was checked against a
// running RocketMQ 5.5.0 (WHEELMQ_TARGET=peer); where WheelMQ is better on
// purpose, the test is strict for WheelMQ and the answer of the real broker is
// in test/exceptions.md.
package cases
