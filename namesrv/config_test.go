package namesrv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store/region"
)

func TestKVConfig_SurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "namesrv", "kvConfig.json")
	open := func(ns *Server) {
		if err := ns.OpenKVConfig(region.OS{Root: dir}, "namesrv/kvConfig.json"); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "", open).dial("127.0.0.1")
	if got := p.call(remoting.GetKVListByNamespace, []string{"namespace", "N"}, nil); got.Code != remoting.QueryNotFound {
		t.Errorf("list of nothing: %d", got.Code)
	}
	p.must(remoting.PutKVConfig, []string{"namespace", "N", "key", "k", "value", "v \"ü\""}, nil)
	p.must(remoting.PutKVConfig, []string{"namespace", "N", "key", "gone", "value", "x"}, nil)
	p.must(remoting.DeleteKVConfig, []string{"namespace", "N", "key", "gone"}, nil)

	p = start(t, "", open).dial("127.0.0.1")
	v, _ := p.must(remoting.GetKVConfig, []string{"namespace", "N", "key", "k"}, nil).Ext.Get("value")
	if string(v) != `v "ü"` {
		t.Errorf("got %q", v)
	}
	if got := p.must(remoting.GetKVListByNamespace, []string{"namespace", "N"}, nil).Body; string(got) != `{"table":{"k":"v \"ü\""}}` {
		t.Errorf("list %s", got)
	}
	got := p.call(remoting.GetKVConfig, []string{"namespace", "N", "key", "gone"}, nil)
	if got.Code != remoting.QueryNotFound || got.Remark != "No config item, Namespace: N Key: gone" {
		t.Errorf("deleted key: %d %q", got.Code, got.Remark)
	}

	if err := os.WriteFile(path, []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, "", open).dial("127.0.0.1")
	if got := p.call(remoting.GetKVConfig, []string{"namespace", "N", "key", "k"}, nil); got.Code != remoting.QueryNotFound {
		t.Errorf("after damage the key is answered with %d", got.Code)
	}
	if _, err := os.Stat(path + ".damaged"); err != nil {
		t.Error(err)
	}
}

func TestConfig_OrderedTopics(t *testing.T) {
	t.Parallel()
	p := start(t, "", nil).dial("127.0.0.1")
	p.must(remoting.PutKVConfig, []string{"namespace", orderNamespace, "key", "T", "value", "broker-a:2"}, nil)
	if got := brokerA.register(p).Body; string(got) != `{"table":{"T":"broker-a:2"}}` {
		t.Errorf("registration answered %s", got)
	}
	if got, _ := p.route("T"); strings.Contains(got, "orderTopicConf") {
		t.Errorf("order configuration although it is off: %s", got)
	}
	got := p.call(remoting.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true\nkvConfigPath=/x\n"))
	if got.Code != remoting.NoPermission || got.Remark != "Can not update config in black list." {
		t.Errorf("black list: %d %q", got.Code, got.Remark)
	}
	for body, want := range map[string]string{
		"orderMessageEnable=true\nnoSuchKey=1\n": "nothing is changed: noSuchKey is unknown",
		"orderMessageEnable=perhaps":             `nothing is changed: orderMessageEnable="perhaps": want true or false`,
		"scanNotActiveBrokerInterval=1":          "nothing is changed: scanNotActiveBrokerInterval has no effect on this server",
	} {
		if got := p.call(remoting.UpdateNamesrvConfig, nil, []byte(body)); got.Code != remoting.InvalidParameter || got.Remark != want {
			t.Errorf("%q: %d %q, want 29 %q", body, got.Code, got.Remark, want)
		}
	}
	p.must(remoting.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true\nenableAllTopicList = false\nscanNotActiveBrokerInterval=5000\n"))
	if got, _ := p.route("T"); !strings.Contains(got, `"orderTopicConf":"broker-a:2"`) {
		t.Errorf("no order configuration: %s", got)
	}
	if got := p.call(206, nil, nil); got.Code != remoting.SystemError || got.Remark != "disable" {
		t.Errorf("topic list: %d %q", got.Code, got.Remark)
	}
	text := string(p.must(remoting.GetNamesrvConfig, nil, nil).Body)
	if !strings.Contains(text, "\norderMessageEnable=true\n") || strings.Contains(text, "noSuchKey") {
		t.Errorf("configuration:\n%s", text)
	}
}
