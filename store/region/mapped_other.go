//go:build !unix

package region

func mapPages(int) []byte { return nil }

func unmapPages([]byte) {}
