package namesrv

import (
	"maps"
	"sync"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store/region"
)

// orderNamespace holds the queues of ordered topics, `broker-a:4;broker-b:4`.
const orderNamespace = "ORDER_TOPIC_CONFIG"

// kvConfig is the KV configuration: namespace → key → value. With a path, kvConfig.json is
// rewritten at every change, before the change is answered.
type kvConfig struct {
	tree  region.FS // nil: in memory only
	file  string
	mu    sync.RWMutex // guards table and the file
	table map[string]map[string]string
}

func newKVConfig() *kvConfig { return &kvConfig{table: make(map[string]map[string]string)} }

func (c *kvConfig) value(namespace, key string) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	value, ok := c.table[namespace][key]
	return value, ok
}

func (c *kvConfig) namespace(namespace string) map[string]string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.table[namespace])
}

func (c *kvConfig) put(ex *remoting.Exchange) error {
	var req remoting.KVConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.table[req.Namespace] == nil {
		c.table[req.Namespace] = make(map[string]string)
	}
	c.table[req.Namespace][req.Key] = req.Value
	return c.save()
}

func (c *kvConfig) get(ex *remoting.Exchange) error {
	var req remoting.KVConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	ex.Reply.Ext.Open()
	value, ok := c.value(req.Namespace, req.Key)
	if !ok {
		return remoting.Errorf(remoting.QueryNotFound, "No config item, Namespace: %s Key: %s", req.Namespace, req.Key)
	}
	ex.Reply.Ext.String("value", value)
	return nil
}

func (c *kvConfig) delete(ex *remoting.Exchange) error {
	var req remoting.KVConfigRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.table[req.Namespace], req.Key)
	return c.save()
}

func (c *kvConfig) list(ex *remoting.Exchange) error {
	var req remoting.GetKVListByNamespaceRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	table := c.namespace(req.Namespace)
	if len(table) == 0 {
		return remoting.Errorf(remoting.QueryNotFound, "No config item, Namespace: %s", req.Namespace)
	}
	return encode(ex, remoting.KVTable{Table: table})
}
