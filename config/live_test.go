package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/config"
)

func TestLive_ChangesAllOrNothing(t *testing.T) {
	t.Parallel()
	var saved map[string]config.Override
	l, notes := config.NewLive(config.Default(), nil, func(o map[string]config.Override) error { saved = o; return nil })
	if len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}
	var told []string
	l.Follow(func(before, after *config.Config) {
		told = append(told, before.MessageDelayLevel+" > "+after.MessageDelayLevel)
	})
	before := l.Get()
	changes, err := l.Change([]config.Pair{{Key: "messageDelayLevel", Value: "2s"}, {Key: "fileReservedTime", Value: "48"}, {Key: "listenPort", Value: "10911"}})
	if err != nil || len(changes) != 2 || changes[0].Key != "fileReservedTime" || changes[1].After != "2s" {
		t.Fatalf("changes %v, %v", changes, err)
	}
	if before.FileReservedTime != 72 || l.Get().FileReservedTime != 48 || l.Get().Source("fileReservedTime") != config.SourceWire {
		t.Error("what Get has returned changes, or what it returns does not")
	}
	if len(told) != 1 || saved["messageDelayLevel"].Value != "2s" || saved["fileReservedTime"].Instead != "72" {
		t.Errorf("told %q, saved %v", told, saved)
	}
	if _, err := l.Change([]config.Pair{{Key: "fileReservedTime", Value: "24"}, {Key: "listenPort", Value: "1"}}); err == nil || l.Get().FileReservedTime != 48 {
		t.Errorf("%v: a part was changed, want nothing", err)
	}
	if changes, err := l.Change([]config.Pair{{Key: "fileReservedTime", Value: "72"}}); err != nil || len(changes) != 1 || len(saved) != 1 {
		t.Errorf("back: %v, %v, saved %v; want one override", changes, err, saved)
	}
}

func TestLive_Refuses(t *testing.T) {
	t.Parallel()
	l, _ := config.NewLive(config.Default(), nil, func(map[string]config.Override) error { return nil })
	l.Check(func(c *config.Config) error {
		if c.DeleteWhen == "25" {
			return errors.New("deleteWhen 25 is no hour")
		}
		return nil
	})
	for pair, want := range map[string]string{
		"noSuchKeyAtAll=1":            "unknown key",
		"fileReservedTim=1":           "did you mean fileReservedTime",
		"fileReservedTime=x":          "want an integer",
		"brokerPermission=9":          "from 0 to 7",
		"longPollingEnable=perhaps":   "true or false",
		"deleteWhen=25":               "no hour",
		"listenPort=1":                "needs a restart",
		"flushDiskType=SYNC_FLUSH":    "needs a restart",
		"flushDiskType=SOMETIMES":     "ASYNC_FLUSH or SYNC_FLUSH",
		"slaveReadEnable=true":        "does not support",
		"scheduleInterval=1":          "no effect",
		"storePathRootDir=/tmp/x":     "never",
		"storePathConsumeQueue=/x":    "never",
		"brokerConfigPath=/tmp/x":     "never",
		"rocketmqHome=/tmp/$(id)":     "never",
		"filterServerNums=1":          "never",
		"configBlackList=x":           "never",
		"bindAddress=0.0.0.0":         "never",
		"messageStorePlugIn=my.Class": "never",
	} {
		key, value, _ := strings.Cut(pair, "=")
		_, err := l.Change([]config.Pair{{Key: key, Value: value}})
		var refusal *config.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Text, want) || refusal.Forbidden != (want == "never") {
			t.Errorf("%s: %+v, want a refusal with %q", pair, err, want)
		}
	}
}

// TestLive_OverRestarts: a change applies until the key is configured anew.
func TestLive_OverRestarts(t *testing.T) {
	t.Parallel()
	overrides := map[string]config.Override{
		"fileReservedTime": {Value: "48", Instead: "72"}, "deleteWhen": {Value: "05", Instead: "03"},
		"listenPort": {Value: "1", Instead: "10911"}, "gone": {Value: "1", Instead: "2"}, "brokerPermission": {Value: "9", Instead: "6"},
	}
	l, notes := config.NewLive(config.Default(), overrides, nil)
	if c := l.Get(); c.FileReservedTime != 48 || c.DeleteWhen != "04" || c.ListenPort != 10911 || c.BrokerPermission != 6 {
		t.Errorf("fileReservedTime %d, deleteWhen %s, listenPort %d, brokerPermission %d", c.FileReservedTime, c.DeleteWhen, c.ListenPort, c.BrokerPermission)
	}
	dropped := 0
	for _, note := range notes {
		if strings.Contains(note, "is dropped") {
			dropped++
		}
	}
	if dropped != 4 || len(notes) != 5 {
		t.Errorf("notes %q, want four that something is dropped, and one", notes)
	}
	refuses, _ := config.NewLive(config.Default(), nil, func(map[string]config.Override) error { return errors.New("full") })
	if _, err := refuses.Change([]config.Pair{{Key: "fileReservedTime", Value: "48"}}); err == nil || refuses.Get().FileReservedTime != 72 {
		t.Errorf("%v, fileReservedTime %d: a change that cannot be kept is none", err, refuses.Get().FileReservedTime)
	}
}

func TestKeys_OfPlacesAreLocal(t *testing.T) {
	t.Parallel()
	for _, k := range config.Keys() {
		if k.Local && k.Live {
			t.Errorf("%s is local and live", k.Name)
		}
		if strings.HasPrefix(k.Name, "storePath") && !k.Local {
			t.Errorf("%s names a place and is not marked", k.Name)
		}
	}
	if !slices.ContainsFunc(config.Keys(), func(k config.Key) bool { return k.Live }) {
		t.Error("no key is live")
	}
}
