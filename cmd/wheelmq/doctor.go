package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/admin/doctor"
)

func doctorCommand() *cobra.Command {
	var f askFlags
	var topic string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Find out why clients do not reach a broker or a topic", Args: topicIsAFlag,
		Long: "Go the way of a client: resolve and ask the name server, ask for the topic's route, connect to the broker at the\n" +
			"address that clients are told. What is wrong is said in one sentence.\n\n" +
			"Exit codes: 0 everything answers, 3 the topic does not exist, 6 anything else is wrong, 1 a wrong option.",
		Example: "  wheelmq doctor --namesrv mq.example.com:9876 --topic orders",
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&topic, "topic", "t", "", "topic to look for")
	completeFlag(cmd, "topic", f.completeTopic(0))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		addrs, err := admin.ParseNameServers(f.nameServers())
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		report := doctor.Examine(ctx, doctor.Options{NameServers: addrs, Topic: topic, Timeout: f.timeout})
		if err := f.print(cmd, &report, func(out *table) { out.diagnosis(&report) }); err != nil {
			return err
		}
		switch report.Fault {
		case doctor.None:
			return nil
		case doctor.TopicMissing:
			return &exitError{exitNotPending, errors.New(report.Sentence)}
		}
		return &exitError{exitNobody, errors.New(report.Sentence)}
	}
	return cmd
}

// topicIsAFlag refuses words that are no flags: a topic, as the other commands take it.
func topicIsAFlag(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected %q: a topic is named with --topic %[1]s", args[0])
	}
	return nil
}

func (t *table) diagnosis(r *doctor.Report) {
	for _, s := range r.Steps {
		t.row(map[bool]string{true: "ok", false: "WRONG"}[s.OK], s.Says)
	}
	if r.Fault == doctor.None {
		t.row("", r.Sentence)
	}
}
