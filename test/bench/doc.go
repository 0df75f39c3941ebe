// Package bench measures the shipped binary in its default configuration beside a
// warmed-up real RocketMQ 5.5.0 and a null server, in one run: server CPU µs per message,
// throughput, memory as RssAnon, start time and lateness. It asserts no time.
//
// The benchmarks are tests that run only with WHEELMQ_BENCH=1 (make bench), since they
// need both cores of the machine for minutes.
package bench
