// Package processor serves requests: one file per family, which decodes a header, calls
// services with plain Go types, and encodes the answer. Each family declares the few
// interfaces it needs and returns its rows of the router's table.
package processor
