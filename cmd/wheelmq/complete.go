package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
)

// completeTopic lets the shell complete an argument with the name of a topic.
func (f *askFlags) completeTopic(at int) cobra.CompletionFunc {
	return f.completeName(at, (*admin.Client).TopicNames)
}

// completeGroup lets the shell complete an argument with the name of a consumer group.
func (f *askFlags) completeGroup(at int) cobra.CompletionFunc {
	return f.completeName(at, (*admin.Client).GroupNames)
}

func (f *askFlags) completeName(at int, list func(*admin.Client, context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) != at {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := f.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer c.Close()
		names, err := list(c, context.Background())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag lets the shell complete the value of a flag.
func completeFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic("wheelmq: " + err.Error())
	}
}
