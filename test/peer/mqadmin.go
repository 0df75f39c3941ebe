package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	mqadminMain   = "org.apache.rocketmq.tools.command.MQAdminStartup"
	adminLoopMain = "com.github.wheelmq.peer.AdminLoop"
)

// PatientClient is a JVM flag of a RocketMQ client: it waits for a connection for a minute, not for 3 s as by
// default, which is too short for a machine that stalls.
const PatientClient = "-Dcom.rocketmq.remoting.client.connect.timeout=60000"

// ToolJVM are the JVM flags of a short-lived client or tool.
var ToolJVM = []string{"-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", PatientClient}

// MQAdmin runs one mqadmin command of RocketMQ 5.5.0 in a JVM of its own and
// returns what it printed and its exit code. mqadmin exits with 0 after most
// failures: look at stderr.
func MQAdmin(ctx context.Context, args ...string) (stdout, stderr string, exit int, err error) {
	cmd, cleanup, err := adminCommand(ctx, mqadminMain, args...)
	if err != nil {
		return "", "", 0, err
	}
	defer cleanup()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit, err = failed.ExitCode(), nil
	}
	return out.String(), errOut.String(), exit, err
}

// adminCommand prepares a JVM with RocketMQ's tools whose home is a temporary
// directory, so that it neither reads nor writes the user's files.
func adminCommand(ctx context.Context, main string, args ...string) (*exec.Cmd, func(), error) {
	cp, err := Classpath(ctx)
	if err != nil {
		return nil, nil, err
	}
	home, err := os.MkdirTemp("", "wheelmq-mqadmin-")
	if err != nil {
		return nil, nil, fmt.Errorf("peer: mqadmin home: %w", err)
	}
	// The broker's own logging configuration is on the classpath and would print
	// its warnings among the answers.
	quiet := filepath.Join(home, "logback.xml")
	if err := os.WriteFile(quiet, []byte("<configuration/>\n"), 0o600); err != nil {
		os.RemoveAll(home)
		return nil, nil, fmt.Errorf("peer: mqadmin home: %w", err)
	}
	cmd := exec.CommandContext(ctx, "java", slices.Concat(ToolJVM, []string{
		// AdminLoop looks at exit codes.
		"-Djava.security.manager=allow",
		"-Duser.home=" + home, "-Dfile.encoding=UTF-8",
		"-Drmq.logback.configurationFile=" + quiet,
		"-cp", cp, main,
	}, args)...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+home, "NAMESRV_ADDR=")
	return cmd, func() { os.RemoveAll(home) }, nil
}

// timedOut is in what mqadmin prints when no answer came in time.
const timedOut = "RemotingTimeoutException"

// adminTries bounds the runs of one command that timed out.
const adminTries = 3

// Admin is one JVM that runs mqadmin commands one after the other.
type Admin struct {
	mu      sync.Mutex
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader
	stderr  *output
	cleanup func()
}

// StartAdmin starts the JVM. It lives until Close, or until this process ends;
// ctx bounds the start only.
func StartAdmin(ctx context.Context) (*Admin, error) {
	if _, err := Classpath(ctx); err != nil {
		return nil, err
	}
	cmd, cleanup, err := adminCommand(context.WithoutCancel(ctx), adminLoopMain)
	if err != nil {
		return nil, err
	}
	a := &Admin{cmd: cmd, stderr: newOutput(""), cleanup: cleanup}
	cmd.Stderr = a.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		cleanup()
		return nil, fmt.Errorf("peer: mqadmin: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		cleanup()
		return nil, fmt.Errorf("peer: mqadmin: %w", err)
	}
	a.stdin, a.answers = stdin, bufio.NewReader(stdout)
	if err := cmd.Start(); err != nil {
		cleanup()
		return nil, fmt.Errorf("peer: start mqadmin: %w", err)
	}
	return a, nil
}

// Run runs one command, for example Run("topicList", "-n", addr). mqadmin exits with 0 after most failures: look
// at stderr. It gives a server a few seconds for an answer, which cannot be set: on a machine that stalls for
// longer the command is run again.
func (a *Admin) Run(args ...string) (stdout, stderr string, exit int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range adminTries {
		stdout, stderr, exit, err = a.run(args)
		if err != nil || !strings.Contains(stderr, timedOut) {
			break
		}
	}
	return stdout, stderr, exit, err
}

// run sends one command to the JVM and reads what it prints.
func (a *Admin) run(args []string) (stdout, stderr string, exit int, err error) {
	if _, err := io.WriteString(a.stdin, strings.Join(args, "\x1f")+"\n"); err != nil {
		return "", "", 0, a.broken(err)
	}
	var outLen, errLen int
	line, err := a.answers.ReadString('\n')
	if err != nil {
		return "", "", 0, a.broken(err)
	}
	if _, err := fmt.Sscanf(line, "%d %d %d\n", &outLen, &errLen, &exit); err != nil {
		return "", "", 0, a.broken(fmt.Errorf("answer %q: %w", line, err))
	}
	both := make([]byte, outLen+errLen)
	if _, err := io.ReadFull(a.answers, both); err != nil {
		return "", "", 0, a.broken(err)
	}
	return string(both[:outLen]), string(both[outLen:]), exit, nil
}

func (a *Admin) broken(err error) error {
	return fmt.Errorf("peer: mqadmin JVM: %w\n%s", err, a.stderr.tail())
}

// Close ends the JVM.
func (a *Admin) Close() error {
	defer a.cleanup()
	if err := a.stdin.Close(); err != nil {
		return fmt.Errorf("peer: mqadmin: %w", err)
	}
	if err := a.cmd.Wait(); err != nil {
		return fmt.Errorf("peer: mqadmin ended: %w\n%s", err, a.stderr.tail())
	}
	return nil
}
