package testapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
)

// documentPath is the contract, from here.
const documentPath = "../../testapi/openapi.yaml"

// contract is the document, with what the tests have seen of it.
type contract struct {
	document *openapi3.T
	router   routers.Router

	mu     sync.Mutex      // guards what follows
	served map[string]bool // operations that succeeded
	kinds  map[string]bool // of errors
}

var theContract *contract

func loadContract() (*contract, error) {
	document, err := openapi3.NewLoader().LoadFromFile(documentPath)
	if err != nil {
		return nil, err
	}
	if err := document.Validate(context.Background()); err != nil {
		return nil, err
	}
	// The document names the default port, the tests' servers have free ones.
	document.Servers = nil
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		return nil, err
	}
	for _, contentType := range []string{"application/yaml", "text/plain"} {
		openapi3filter.RegisterBodyDecoder(contentType, openapi3filter.PlainBodyDecoder)
	}
	return &contract{document: document, router: router, served: make(map[string]bool), kinds: make(map[string]bool)}, nil
}

func TestMain(m *testing.M) {
	if peer.TargetKind() != peer.Ours {
		fmt.Println("only this server has a test API")
		os.Exit(0)
	}
	var err error
	if theContract, err = loadContract(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goclient.Quiet()
	code := m.Run()
	// A selection of tests need not meet everything.
	if code == 0 && !selected() {
		for _, missed := range theContract.missed() {
			fmt.Fprintln(os.Stderr, "no test met", missed)
			code = 1
		}
	}
	os.Exit(code)
}

// unmet are the kinds of errors that no request can bring about on purpose.
var unmet = []string{"internal", "stopping"}

// missed are operations and kinds of errors of the document that no test has met.
func (c *contract) missed() (list []string) {
	for path, item := range c.document.Paths.Map() {
		for method, operation := range item.Operations() {
			if !c.served[operation.OperationID] {
				list = append(list, "a success of "+method+" "+path)
			}
		}
	}
	for _, kind := range c.document.Components.Schemas["Error"].Value.Properties["kind"].Value.Enum {
		if kind := kind.(string); !c.kinds[kind] && !slices.Contains(unmet, kind) {
			list = append(list, "an error of the kind "+kind)
		}
	}
	slices.Sort(list)
	return list
}

// exchange is one request and its answer.
type exchange struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	body    []byte
}

// check holds an exchange to the document; a request that is wrong on purpose is not held to it.
func (c *contract) check(x *exchange, wrong bool) error {
	x.request.Body = io.NopCloser(bytes.NewReader(x.sent))
	route, params, err := c.router.FindRoute(x.request)
	if err != nil {
		if x.status != http.StatusNotFound && x.status != http.StatusMethodNotAllowed {
			return fmt.Errorf("answered with %d, but: %w", x.status, err)
		}
		return c.checkError(x)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: x.request, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateRequest(x.request.Context(), input); err != nil && !wrong {
		return fmt.Errorf("the request: %w", err)
	}
	if err := c.checkAnswer(x, input); err != nil {
		return err
	}
	if x.status >= http.StatusBadRequest {
		return c.checkError(x)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.served[route.Operation.OperationID] = true
	return nil
}

// checkAnswer validates a body by its type. 204 has none.
func (c *contract) checkAnswer(x *exchange, input *openapi3filter.RequestValidationInput) error {
	err := openapi3filter.ValidateResponse(x.request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: x.status, Header: x.header, Body: io.NopCloser(bytes.NewReader(x.body)),
		Options: input.Options,
	})
	if err != nil {
		return fmt.Errorf("the answer %d %s: %w", x.status, x.body, err)
	}
	if x.status == http.StatusNoContent && len(x.body) > 0 {
		return fmt.Errorf("204 with the body %q", x.body)
	}
	return nil
}

func (c *contract) checkError(x *exchange) error {
	var got map[string]any
	if err := json.Unmarshal(x.body, &got); err != nil {
		return fmt.Errorf("%d %q: %w", x.status, x.body, err)
	}
	if err := c.document.Components.Schemas["Error"].Value.VisitJSON(got); err != nil {
		return fmt.Errorf("%d %s: %w", x.status, x.body, err)
	}
	if text := got["error"].(string); strings.TrimSpace(text) == "" {
		return errors.New("an error without words")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds[got["kind"].(string)] = true
	return nil
}

func TestDocument_IsWhatIsServed(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "--test-api")
	if got := s.get(t, "/test/openapi.yaml").body; !bytes.Equal(got, want) {
		t.Error("GET /test/openapi.yaml is another document than testapi/openapi.yaml")
	}
}

// TestDocument_ExamplesAreValid holds the examples of request bodies to their schemas.
func TestDocument_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	examples := 0
	for path, item := range theContract.document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			media := operation.RequestBody.Value.Content["application/json"]
			all := map[string]any{"": media.Example}
			for name, e := range media.Examples {
				all[name] = e.Value.Value
			}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if all[name] == nil {
					continue
				}
				examples++
				if err := media.Schema.Value.VisitJSON(all[name]); err != nil {
					t.Errorf("%s %s, example %q: %v", method, path, name, err)
				}
			}
		}
	}
	if examples < 5 {
		t.Errorf("only %d examples were found", examples)
	}
}
