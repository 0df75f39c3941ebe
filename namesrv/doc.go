// Package namesrv is the name server: which broker serves which topic, at which address, and
// whether it lives. Table is the pure route table; Server is its liveness, KV configuration
// and request handlers.
package namesrv
