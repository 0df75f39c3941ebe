package testapi

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// The types of what is answered.
const (
	jsonType = "application/json"
	textType = "text/plain; charset=utf-8"
	yamlType = "application/yaml"
)

// text and yaml are answers that are no JSON.
type (
	text string
	yaml []byte
)

// answer writes what a route has returned; nil is 204.
func (a *API) answer(w http.ResponseWriter, status int, got any) {
	var body []byte
	switch got := got.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
		return
	case text:
		w.Header().Set("Content-Type", textType)
		body = []byte(got)
	case yaml:
		w.Header().Set("Content-Type", yamlType)
		body = got
	default:
		w.Header().Set("Content-Type", jsonType)
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(got); err != nil {
			a.log.WithError(err).Error("a reply of the test API cannot be encoded")
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		body = out.Bytes()
	}
	if status != 0 {
		w.WriteHeader(status)
	}
	if _, err := w.Write(body); err != nil {
		a.log.WithError(err).Debug("a reply of the test API was not read")
	}
}

// present is a list that is [] in JSON when it is empty, never null.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
