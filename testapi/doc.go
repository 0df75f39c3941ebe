// Package testapi is the HTTP side of package control: what tests in any language say to a
// running server, below /test/. The contract is openapi.yaml.
package testapi

import _ "embed"

// OpenAPI is the contract as an OpenAPI document, which GET /test/openapi.yaml returns.
//
//go:embed openapi.yaml
var OpenAPI []byte
