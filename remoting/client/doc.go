// Package client makes outgoing calls over one connection: a broker to its name servers.
package client
