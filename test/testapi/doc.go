// Package testapi holds the tests of the test API over HTTP: the shipped binary is started as a
// test runner starts it, and every request and answer is held to testapi/openapi.yaml, so that
// document and server cannot drift apart.
package testapi
