package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/store/offline"
)

// pendingCounts is what the API answers to a count.
type pendingCounts struct {
	Total  int64                  `json:"total"`
	Counts []control.PendingCount `json:"counts"`
}

// page is a page of what waits, in a server or in a store; body is it as JSON.
func (t *timersClient) page(cmd *cobra.Command, query url.Values) (page control.PendingPage, body []byte, err error) {
	if t.store == "" {
		body, err = t.call(cmd.Context(), http.MethodGet, "pending", query, &page)
		return page, body, err
	}
	body, err = t.stopped(cmd, query, func(ctx context.Context, s *broker.Stopped, f control.PendingFilter) (any, error) {
		page, err = control.ListPending(ctx, s, f)
		return page, err
	})
	return page, body, err
}

// counts are how many wait, in a server or in a store; body is it as JSON.
func (t *timersClient) counts(cmd *cobra.Command, query url.Values) (got pendingCounts, body []byte, err error) {
	if t.store == "" {
		body, err = t.call(cmd.Context(), http.MethodGet, "pending/counts", query, &got)
		return got, body, err
	}
	step, err := stepOf(query.Get("step"))
	if err != nil {
		return got, nil, err
	}
	body, err = t.stopped(cmd, query, func(ctx context.Context, s *broker.Stopped, f control.PendingFilter) (any, error) {
		list, err := control.CountPending(ctx, s, f, step)
		got.Counts = append([]control.PendingCount{}, list...)
		for _, c := range list {
			got.Total += c.Messages
		}
		return got, err
	})
	return got, body, err
}

func stepOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	step, err := time.ParseDuration(text)
	if err != nil || step <= 0 {
		return 0, fmt.Errorf("--step=%s: want a step of time, for example 1h", text)
	}
	return step, nil
}

// stopped looks into the store, and returns what look returns as JSON.
func (t *timersClient) stopped(
	cmd *cobra.Command, query url.Values, look func(context.Context, *broker.Stopped, control.PendingFilter) (any, error),
) (body []byte, err error) {
	f, err := filterOf(query)
	if err != nil {
		return nil, err
	}
	log := logrus.New()
	log.SetOutput(cmd.ErrOrStderr())
	log.SetLevel(logrus.ErrorLevel)
	err = withStore(t.store, func(*offline.Dir) (err error) {
		s, err := broker.OpenStopped(t.store, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		got, err := look(cmd.Context(), s, f)
		if err != nil {
			return err
		}
		body, err = json.Marshal(got)
		body = append(body, '\n')
		return err
	})
	var exit *exitError
	if errors.As(err, &exit) {
		return nil, exit.err // the codes of the store commands mean something else
	}
	return body, err
}

// filterOf reads the parameters that select messages.
func filterOf(query url.Values) (f control.PendingFilter, err error) {
	f = control.PendingFilter{Topic: query.Get("topic"), Key: query.Get("key"), After: query.Get("after")}
	if f.FromMs, err = instantOf("from", query.Get("from")); err != nil {
		return f, err
	}
	if f.ToMs, err = instantOf("to", query.Get("to")); err != nil {
		return f, err
	}
	if limit := query.Get("limit"); limit != "" {
		f.Limit, err = strconv.Atoi(limit)
	}
	return f, err
}

// instantOf reads RFC 3339, or ms since 1970; 0 without text.
func instantOf(flag, text string) (ms int64, err error) {
	if text == "" {
		return 0, nil
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return ms, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.UnixMilli() <= 0 {
		return 0, fmt.Errorf("--%s=%s: want RFC 3339, as 2026-01-31T08:00:00Z, or milliseconds since 1970", flag, text)
	}
	return at.UnixMilli(), nil
}
