package wheelmq

import (
	"github.com/wheelmq/wheelmq/health"
)

// Health is the state of the instance.
func (i *Instance) Health() health.Report {
	return i.report((*health.Registry).Report, health.Down)
}

// reporter is the instance as the console sees it.
type reporter struct{ i *Instance }

// Report implements console.Reporter.
func (r reporter) Report() health.Report { return r.i.Health() }

// Ready implements console.Reporter.
func (r reporter) Ready() health.Report { return r.i.report((*health.Registry).Ready, health.Down) }

// Live implements console.Reporter. A server that starts lives.
func (r reporter) Live() health.Report { return r.i.report((*health.Registry).Live, health.Up) }

// report asks the life there is; without one the server is in the state given.
func (i *Instance) report(ask func(*health.Registry) health.Report, without health.State) health.Report {
	i.mu.RLock()
	l, down, beginning := i.life, i.down, i.beginning
	i.mu.RUnlock()
	if l != nil {
		return ask(l.health)
	}
	result := health.Result{State: without}
	if without != health.Up {
		result.Reason = "stopped"
		if down != nil {
			result.Reason = down.Error()
		}
		if beginning != nil {
			result.Reason += ": " + beginning.doing() + "; clients are served when that is done"
		}
	}
	report := health.Report{State: health.Up, Parts: make(map[string]health.Result)}
	report.Add("server", result)
	return report
}
