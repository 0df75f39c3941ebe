package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/offline"
)

// countTimers fills in the any-time delayed messages of a store whose timers are this server's: it keeps
// them in files of its own, which wheelmq timers --store reads.
func countTimers(dir string, report *offline.Report, says io.Writer) (err error) {
	ours := slices.ContainsFunc(report.Topics, func(t offline.TopicReport) bool { return t.Name == message.TopicTimer })
	if !ours || report.Waiting.Timers > 0 || len(report.Unsupported) > 0 {
		return nil
	}
	log := logrus.New()
	log.SetOutput(says)
	log.SetLevel(logrus.ErrorLevel)
	s, err := broker.OpenStopped(dir, log)
	if err != nil {
		return fmt.Errorf("count the timers: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	waiting := &report.Waiting
	unread, err := s.EachPending(0, func(p broker.Pending) error {
		if p.Level > 0 {
			return nil
		}
		if waiting.Timers++; waiting.Timers == 1 {
			waiting.FirstTimer = p.Due
		}
		return nil
	})
	if unread > 0 {
		report.Unreadable = append(report.Unreadable, fmt.Sprintf("%d records of timers", unread))
	}
	return err
}
