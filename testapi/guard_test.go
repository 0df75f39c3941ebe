package testapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
)

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// ask serves a request of a program on this machine, changed by the test.
func ask(h http.Handler, method, target, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:40000", "127.0.0.1:9878"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func call(h http.Handler, method, target, body string) (status int, answer string) {
	w := ask(h, method, target, body, nil)
	return w.Code, w.Body.String()
}

// wantProblem checks a refusal.
func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int, kind, text string) {
	t.Helper()
	var got struct{ Error, Kind string }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	if w.Code != status || got.Kind != kind || !strings.Contains(got.Error, text) {
		t.Errorf("%d %s %q, want %d %s with %q", w.Code, got.Kind, got.Error, status, kind, text)
	}
	if strings.Count(w.Body.String(), "\n") != 1 || w.Header().Get("Content-Type") != jsonType {
		t.Errorf("not one line of JSON: %q", w.Body)
	}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
func from(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }

func TestWithoutToken_OnlyProgramsOnThisMachine(t *testing.T) {
	t.Parallel()
	a := New(Options{Log: quiet()})
	for name, change := range map[string]func(*http.Request){
		"another machine":       from("192.0.2.7:40000"),
		"another over IPv6":     from("[2001:db8::1]:40000"),
		"no address":            from("@"),
		"a page":                header("Origin", "https://example.org"),
		"a page without origin": header("Origin", "null"),
		"an image of a page":    header("Sec-Fetch-Site", "cross-site"),
		"a page of a port here": header("Sec-Fetch-Site", "same-site"),
		"a proxy":               header("X-Forwarded-For", "192.0.2.7"),
		"another proxy":         header("Forwarded", "for=192.0.2.7"),
		"a rebound name":        host("example.org:9878"),
		"a name that looks so":  host("127.0.0.1.example.org"),
		"no host":               host(""),
		"a host of the network": host("192.0.2.1:9878"),
	} {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, ask(a, "GET", Prefix, "", change), http.StatusForbidden, "forbidden", "--test-token")
		})
	}
	for name, change := range map[string]func(*http.Request){
		"by address":    nil,
		"by name":       host("localhost:9878"),
		"without port":  host("LOCALHOST"),
		"IPv6":          func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:40000", "[::1]:9878" },
		"mapped":        from("[::ffff:127.0.0.1]:40000"),
		"IPv6 portless": host("[::1]"),
		"address line":  header("Sec-Fetch-Site", "none"),
	} {
		if w := ask(a, "GET", Prefix, "", change); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestToken_IsAllThatCounts(t *testing.T) {
	t.Parallel()
	a := New(Options{Token: "secret", Log: quiet()})
	for _, value := range []string{"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret"} {
		w := ask(a, "GET", Prefix, "", header("Authorization", value))
		wantProblem(t, w, http.StatusUnauthorized, "unauthorized", "Bearer")
		if strings.Contains(w.Body.String(), "secret") {
			t.Error("the answer tells the token")
		}
	}
	for _, value := range []string{"Bearer secret", "bearer secret"} {
		w := ask(a, "GET", Prefix, "", func(r *http.Request) {
			r.RemoteAddr, r.Host = "192.0.2.7:40000", "mq.example.org"
			r.Header.Set("Authorization", value)
		})
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Bearer $WHEELMQ_TEST_TOKEN") {
			t.Errorf("%s: %d %s", value, w.Code, w.Body)
		}
	}
}

func TestOff_SaysHowToSwitchItOn(t *testing.T) {
	t.Parallel()
	wantProblem(t, ask(Off(), "POST", Prefix+"clock/advance", "", from("192.0.2.7:1")), http.StatusNotFound, "off", "--test-api")
}
