package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/control"
)

// timersTimeout bounds one request: a look at many millions takes a while.
const timersTimeout = 5 * time.Minute

// timersClient asks a server's API.
type timersClient struct {
	addr, token string
	store       string // to look into instead; "": none
	json        bool
}

// add adds the flags that say whom to ask.
func (t *timersClient) add(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&t.addr, "http", "127.0.0.1:"+defaultOf("httpPort"), "host:port of the server's HTTP port")
	cmd.PersistentFlags().StringVar(&t.token, "token", "", "that the server was started with (or $"+adminTokenEnv+", $"+tokenEnv+")")
	cmd.PersistentFlags().BoolVar(&t.json, "json", false, "print the server's answer as JSON")
	cmd.PersistentPreRun = func(*cobra.Command, []string) {
		t.token = cmp.Or(t.token, os.Getenv(adminTokenEnv), os.Getenv(tokenEnv))
	}
}

// call makes a request and reads the answer into got; nil: nothing is to be read.
func (t *timersClient) call(ctx context.Context, method, path string, query url.Values, got any) (body []byte, err error) {
	if t.store != "" {
		return nil, errors.New("--store: a store whose server is stopped can be looked at only: list, count and find")
	}
	target := "http://" + t.addr + "/admin/" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, timersTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, fmt.Errorf("--http=%s: %w", t.addr, err)
	}
	if t.token != "" {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, &exitError{exitNobody, fmt.Errorf("no server answers at %s, name its HTTP port with --http: %w", t.addr, err)}
	}
	defer func() { err = errors.Join(err, reply.Body.Close()) }()
	if body, err = io.ReadAll(reply.Body); err != nil {
		return nil, fmt.Errorf("the answer of %s: %w", t.addr, err)
	}
	if reply.StatusCode >= http.StatusBadRequest {
		return nil, t.refused(reply.StatusCode, body)
	}
	if got == nil {
		return body, nil
	}
	if err := json.Unmarshal(body, got); err != nil {
		return nil, fmt.Errorf("the answer of %s is not this API's: %w", t.addr, err)
	}
	return body, nil
}

// refused is an answer that says why something is not done.
func (t *timersClient) refused(status int, body []byte) error {
	var said struct{ Error, Kind string }
	if err := json.Unmarshal(body, &said); err != nil || said.Error == "" {
		return fmt.Errorf("what answers at %s with status %d is not the HTTP port of a server", t.addr, status)
	}
	err := errors.New(said.Error)
	code, known := map[string]int{"not-found": exitNotFound, "too-late": exitTooLate, "refused": exitRefused, "invalid": exitRefused}[said.Kind]
	if !known {
		return err
	}
	return &exitError{code, err}
}

// show prints an answer as JSON, or as a table for people.
func (t *timersClient) show(cmd *cobra.Command, body []byte, err error, print func(out *table)) error {
	if err != nil {
		return err
	}
	if t.json {
		if len(body) == 0 {
			body = []byte("{}\n")
		}
		_, err := cmd.OutOrStdout().Write(body)
		return err
	}
	return printTable(cmd.OutOrStdout(), print)
}

func (t *table) pending(page *control.PendingPage) {
	t.row("ID", "DUE", "TOPIC", "MESSAGE ID", "KEYS", "WAITS FOR")
	for _, p := range page.Pending {
		waits := "its instant"
		if p.Level > 0 {
			waits = "delay level " + strconv.Itoa(p.Level)
		}
		t.row(p.ID, instantText(p.DueMs), p.Topic, p.MsgID, p.Keys, waits)
	}
	switch {
	case page.AtLeast:
		t.row("over "+strconv.FormatInt(page.Total, 10), "in all, wheelmq timers count counts them")
	case page.Total > 0 || page.Next == "" && len(page.Pending) == 0:
		t.row(strconv.FormatInt(page.Total, 10), "in all")
	}
	if page.Unread > 0 {
		t.row(strconv.FormatInt(page.Unread, 10), "records cannot be read, see the server's log")
	}
	if page.Next != "" {
		t.row("more:", "--after="+page.Next)
	}
}
