package wheelmq

import (
	"errors"
	"fmt"
)

// ports are where an instance listens, over all its lives.
type ports struct {
	broker, namesrv uint16
	chosen          bool // the broker's is the configured one
	held            []func() error
}

// choose turns every port 0 into a free one, which message ids must name before it is open. It
// is kept free for the instance until release.
func (p *ports) choose(cfg *Config) (err error) {
	if !cfg.WithoutBroker && !cfg.WithoutNameServer && cfg.ListenPort != 0 && cfg.ListenPort == cfg.NamesrvListenPort {
		return fmt.Errorf("wheelmq: listenPort and namesrvListenPort are both %d", cfg.ListenPort)
	}
	p.chosen = cfg.ListenPort != 0
	if !cfg.WithoutBroker {
		if p.broker, err = p.one(cfg.BindAddress, cfg.ListenPort); err != nil {
			return err
		}
	}
	if !cfg.WithoutNameServer {
		p.namesrv, err = p.one(cfg.BindAddress, cfg.NamesrvListenPort)
	}
	return err
}

func (p *ports) one(bind string, port int) (uint16, error) {
	if port != 0 {
		return uint16(port), nil
	}
	free, release, err := reservePort(bind)
	if err != nil {
		return 0, fmt.Errorf("wheelmq: no free port: %w", err)
	}
	p.held = append(p.held, release)
	return free, nil
}

// release lets go of the free ports.
func (p *ports) release() error {
	var all []error
	for _, release := range p.held {
		all = append(all, release())
	}
	p.held = nil
	return errors.Join(all...)
}
