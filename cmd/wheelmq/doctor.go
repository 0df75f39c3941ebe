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
		Use: "doctor [TOPIC]", Short: "Find out why clients do not reach a broker or a topic", Args: cobra.MaximumNArgs(1), ValidArgsFunction: f.completeTopic(0),
		Long: "Go the way of a client: resolve and ask the name server, ask for the topic's route, connect to the broker at the\n" +
			"address that clients are told. What is wrong is said in one sentence.\n\n" +
			"Exit codes: 0 everything answers, 3 the topic does not exist, 6 anything else is wrong, 1 a wrong option.",
		Example: "  wheelmq doctor --namesrv mq.example.com:9876 orders",
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&topic, "topic", "t", "", "topic to look for")
	completeFlag(cmd, "topic", f.completeTopic(0))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		topic, err := oneTopic(topic, args)
		if err != nil {
			return err
		}
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
			return &exitError{exitNotFound, errors.New(report.Sentence)}
		}
		return &exitError{exitNobody, errors.New(report.Sentence)}
	}
	return cmd
}

// oneTopic is the topic that a flag or the first word names.
func oneTopic(flag string, args []string) (string, error) {
	switch {
	case len(args) == 0:
		return flag, nil
	case flag != "" && flag != args[0]:
		return "", fmt.Errorf("both %q and --topic %q", args[0], flag)
	}
	return args[0], nil
}

func (t *table) diagnosis(r *doctor.Report) {
	for _, s := range r.Steps {
		t.row(map[bool]string{true: "ok", false: "WRONG"}[s.OK], s.Says)
	}
	if r.Fault == doctor.None {
		t.row("", r.Sentence)
	}
}
