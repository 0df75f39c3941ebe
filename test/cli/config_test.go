package cli

import "testing"

func TestConfigPrint_OfARunningBroker(t *testing.T) {
	t.Parallel()
	var list []struct{ Key, Value, Source string }
	must(t, &list, "config", "print", "--running", "brokerName", "enablePropertyFilter", "messageDelayLevel")
	if len(list) != 3 || list[0].Value != "broker-a" || list[1].Value != "true" {
		t.Errorf("got %+v", list)
	}
	fails(t, exitNotFound, "is not known", "config", "print", "--running", "noSuchKey")
}
