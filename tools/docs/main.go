// Command docs writes docs/differences.md, docs/compat.md and docs/configuration.md from the code.
package main

import (
	"fmt"
	"os"

	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/internal/docs"
)

func main() {
	tables, err := docs.Tables()
	if err == nil {
		err = os.WriteFile("docs/compat.md", []byte(docs.Compat(tables)), 0o644)
	}
	if err == nil {
		err = os.WriteFile("docs/differences.md", []byte(docs.Differences(difference.All())), 0o644)
	}
	if err == nil {
		err = os.WriteFile("docs/configuration.md", []byte(docs.Configuration(config.Keys())), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
