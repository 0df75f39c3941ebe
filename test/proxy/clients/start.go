package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/wheelmq/wheelmq/test/peer"
)

// Names of the clients, each with the version of its library that plays.
const (
	Java   = "java-5.1.0"
	Go     = "go-5.1.3"
	Python = "python-5.1.2"
	Node   = "node-1.0.8"
)

// javaJVM are the JVM flags of the Java client's process.
var javaJVM = []string{"-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}

// Start runs a client's program against a proxy: home is where the client may leave its logs, told
// is called with its events.
func Start(ctx context.Context, client, proxy, home string, told func(*Reply)) (*Process, error) {
	prepare := map[string]func(context.Context, string) (*exec.Cmd, error){
		Java: javaProgram, Go: goProgram, Python: pythonProgram, Node: nodeProgram,
	}[client]
	if prepare == nil {
		return nil, fmt.Errorf("clients: there is no client %q", client)
	}
	cmd, err := prepare(ctx, home)
	if err != nil {
		return nil, err
	}
	cmd.Args = append(cmd.Args, proxy)
	cmd.Dir = home
	cmd.Env = slices.Concat(os.Environ(), cmd.Env, []string{"HOME=" + home, "user.home=" + home, "rocketmq.client.enableSsl=false"})
	return start(cmd, told)
}

// Tools are the programs that a client needs beside Go and Java.
func Tools(client string) []string {
	switch client {
	case Python:
		return []string{"python3"}
	case Node:
		return []string{"node", "npm"}
	}
	return nil
}

// sourceDir is the directory of this file.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

func javaProgram(ctx context.Context, home string) (*exec.Cmd, error) {
	project, err := peer.BuildMaven(ctx, filepath.Join(sourceDir(), "java"))
	if err != nil {
		return nil, err
	}
	return exec.Command("java", slices.Concat(javaJVM, []string{
		"-Duser.home=" + home, "-Dfile.encoding=UTF-8", "-cp", project.Classpath,
		"com.github.wheelmq.proxytest.Driver",
	})...), nil
}

func goProgram(ctx context.Context, home string) (*exec.Cmd, error) {
	bin := filepath.Join(home, "golang")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "./golang")
	cmd.Dir = sourceDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("clients: build the Go client: %w\n%s", err, out)
	}
	return exec.Command(bin), nil
}

func pythonProgram(ctx context.Context, _ string) (*exec.Cmd, error) {
	source := filepath.Join(sourceDir(), "python")
	dir, err := peer.Prepared(ctx, "python", []string{filepath.Join(source, "requirements.txt")},
		[]string{"python3", "-m", "venv", "venv"},
		[]string{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"})
	if err != nil {
		return nil, err
	}
	return exec.Command(filepath.Join(dir, "venv", "bin", "python"), filepath.Join(source, "driver.py")), nil
}

func nodeProgram(ctx context.Context, _ string) (*exec.Cmd, error) {
	source := filepath.Join(sourceDir(), "node")
	dir, err := peer.Prepared(ctx, "node",
		[]string{filepath.Join(source, "package.json"), filepath.Join(source, "package-lock.json")},
		[]string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", filepath.Join(source, "driver.js"))
	cmd.Env = []string{"NODE_PATH=" + filepath.Join(dir, "node_modules")}
	return cmd, nil
}
