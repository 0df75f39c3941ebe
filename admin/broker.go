package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/remoting"
)

// Runtime is a broker's table of figures by name (GET_BROKER_RUNTIME_INFO, 28).
func (c *Client) Runtime(ctx context.Context, b Broker) (map[string]string, error) {
	var got remoting.KVTable
	err := c.read(ctx, b.Addr, remoting.GetBrokerRuntimeInfo, nil, &got)
	return got.Table, err
}

// Config is a broker's configuration in force (GET_BROKER_CONFIG, 26).
func (c *Client) Config(ctx context.Context, b Broker) (map[string]string, error) {
	return c.properties(ctx, b.Addr, remoting.GetBrokerConfig)
}

// sourceSet is the source of what is not the default, when a broker does not say who set it.
const sourceSet = "set"

// Entries are a broker's keys in force, sorted by name. Those that this server has too tell whether
// their value is its default.
func (c *Client) Entries(ctx context.Context, b Broker) ([]config.Entry, error) {
	table, err := c.Config(ctx, b)
	if err != nil {
		return nil, err
	}
	known := make(map[string]config.Entry)
	for _, e := range config.Default().Entries() {
		known[e.Key] = e
	}
	var list []config.Entry
	for _, key := range slices.Sorted(maps.Keys(table)) {
		e, ours := known[key]
		e.Key, e.Value = key, table[key]
		if !ours || e.Value != e.Default {
			e.Source = sourceSet
		}
		list = append(list, e)
	}
	return list, nil
}

func (c *Client) properties(ctx context.Context, addr string, code int32) (map[string]string, error) {
	reply, err := c.ask(ctx, addr, code, nil, nil)
	if err != nil {
		return nil, err
	}
	pairs, err := config.ParseProperties(string(reply.Body))
	if err != nil {
		return nil, fmt.Errorf("admin: the configuration of %s: %w", addr, err)
	}
	table := make(map[string]string, len(pairs))
	for _, p := range pairs {
		table[p.Key] = p.Value
	}
	return table, nil
}
