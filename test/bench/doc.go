// Package bench measures the shipped binary in its default configuration beside a
// warmed-up real RocketMQ 5.5.0 and a null server, in one run: server CPU µs per message,
// throughput, memory as RssAnon, start time and lateness. It asserts no time.
//
// The benchmarks are tests that run only with WHEELMQ_BENCH=1 (make bench), since they
// need both cores of the machine for minutes. For a look at a part:
//
//	WHEELMQ_BENCH_PEER=0             without the real server
//	WHEELMQ_BENCH_ROWS="send 128 B"  these rows of TestThroughput or TestPop only
//	WHEELMQ_BENCH_MESSAGES, WHEELMQ_BENCH_PEER_MESSAGES, WHEELMQ_BENCH_JAVA_MESSAGES,
//	WHEELMQ_BENCH_BURST              how many messages
//	WHEELMQ_BENCH_WARM_MIB=512       memory that is touched before each round
package bench
