package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

// jsonLine prints a value on one line.
func jsonLine(cmd *cobra.Command, v any) error { return json.NewEncoder(cmd.OutOrStdout()).Encode(v) }

// indented prints a value as JSON on lines of its own.
func indented(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
