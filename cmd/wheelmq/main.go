// Command wheelmq is the server: name server and broker in one static binary.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes one command line. What goes wrong is one line on stderr and exit code 1, unless
// the command has codes of its own.
func run(args []string, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := cmd.Execute(); err != nil {
		fmt.Fprintln(stderr, "wheelmq: "+oneLine(err.Error()))
		var exit *exitError
		if errors.As(err, &exit) {
			return exit.code
		}
		return 1
	}
	return 0
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use: "wheelmq", Short: "A RocketMQ-compatible server", Version: version, SilenceUsage: true, SilenceErrors: true,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(cmd.Help(), errors.New("name a command, for example wheelmq serve"))
		},
	}
	root.SetVersionTemplate("wheelmq {{.Version}}\n")
	addGroup(root, "Servers:",
		serveCommand("serve", "Run name server and broker in one process", parts{}),
		serveCommand("broker", "Run a broker alone, registered with namesrvAddr", parts{withoutNameServer: true}),
		serveCommand("namesrv", "Run a name server alone", parts{withoutBroker: true}),
		healthcheckCommand(), configCommand(),
	)
	addGroup(root, "Daily work, on any RocketMQ:",
		topicsCommand(), groupsCommand(), lagCommand(), sendCommand(), tailCommand(), msgCommand(), whyCommand(), doctorCommand(),
	)
	addGroup(root, "What waits, and what is stored:", timersCommand(), parkedCommand(), storeCommand())
	root.AddCommand(versionCommand())
	showArgs(root)
	return root
}

// showArgs adds to what cobra says of too few or too many words what the command takes.
func showArgs(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		showArgs(sub)
		if args := sub.Args; args != nil && strings.Contains(sub.Use, " ") {
			sub.Args = func(cmd *cobra.Command, words []string) error {
				if err := args(cmd, words); err != nil {
					return fmt.Errorf("%w: want %s", err, cmd.UseLine())
				}
				return nil
			}
		}
	}
}

// addGroup adds commands that the help shows together.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
		root.AddCommand(cmd)
	}
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if asJSON {
			return jsonLine(cmd, map[string]string{"version": version})
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "wheelmq "+version)
		return err
	}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// oneLine joins the lines of a text, so that a supervisor's log shows all of it.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
