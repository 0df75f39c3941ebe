package compat

import (
	"fmt"
	"os"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/wheelmq/wheelmq/test/suite"
)

func TestMain(m *testing.M) {
	rlog.SetLogLevel("fatal")
	if child, ok := os.LookupEnv(childEnv); ok {
		if err := runChild(child); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	suite.Main(m, map[string]string{
		"enablePropertyFilter": "true",
		// The Go client creates no topic for what it records.
		"traceTopicEnable": "true",
		// The real broker asks about a transaction after its time-out, at the next interval.
		"transactionTimeOut": "2000", "transactionCheckInterval": "5000",
	})
}
