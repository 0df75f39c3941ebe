package testapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard decides who may ask. Without a token that is a program on this machine, no proxy and no
// browser: a page on the web must not reach a developer's server through the developer's browser.
type guard struct {
	guardTexts
	token [sha256.Size]byte
	open  bool // without a token
}

// guardTexts are what a refusal calls an API, and where its token comes from.
type guardTexts struct{ name, flag, env string }

var (
	testGuard       = guardTexts{"the test API", "--test-token", "WHEELMQ_TEST_TOKEN"}
	operationsGuard = guardTexts{"the operations API", "--admin-token", "WHEELMQ_ADMIN_TOKEN"}
)

func newGuard(token string, texts guardTexts) guard {
	return guard{guardTexts: texts, token: sha256.Sum256([]byte(token)), open: token == ""}
}

// admit returns nil for a request that may be served.
func (g *guard) admit(r *http.Request) error {
	if !g.open {
		return g.bearer(r)
	}
	for _, header := range []string{"Origin", "X-Forwarded-For", "Forwarded", "Via"} {
		if r.Header.Get(header) != "" {
			return g.forbidden("a request with the header " + header + ", which browsers and proxies send")
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" {
		return g.forbidden("a request that a web page made")
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return g.forbidden("a peer that does not come over loopback (" + r.RemoteAddr + ", on this machine use 127.0.0.1 or localhost)")
	}
	if !loopback(r.Host) {
		return g.forbidden("the Host " + r.Host + ", which is not this machine's own name (use 127.0.0.1 or localhost)")
	}
	return nil
}

func (g *guard) forbidden(what string) error {
	return &problem{
		http.StatusForbidden, "forbidden",
		"without a token " + g.name + " does not serve " + what + ": start the server with " + g.flag + " to admit whoever knows it",
	}
}

// loopback tells whether a Host header names the machine itself. A name of the web that was made
// to resolve to 127.0.0.1 does not.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// bearer compares digests: neither the time it takes nor its length tells about the token.
func (g *guard) bearer(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(strings.TrimSpace(token)))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(given[:], g.token[:]) != 1 {
		return &problem{http.StatusUnauthorized, "unauthorized", "want the header Authorization: Bearer with the token that the server was started with"}
	}
	return nil
}
