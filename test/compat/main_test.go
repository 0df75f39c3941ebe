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
	suite.Main(m, nil)
}
