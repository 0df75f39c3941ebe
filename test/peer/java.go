package peer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// requireJavaEnv makes a missing JDK or Maven a failure instead of a skip.
const requireJavaEnv = "WHEELMQ_REQUIRE_JAVA"

// dependencyPlugin is pinned so that a resolved classpath does not depend on
// the version that the installed Maven happens to prefer.
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"

// RequireJava skips the test when java, javac or mvn is not on the PATH, or
// fails it when WHEELMQ_REQUIRE_JAVA=1.
func RequireJava(tb testing.TB) {
	tb.Helper()
	RequireTools(tb, javaTools...)
}

// RequireTools is RequireJava for other programs.
func RequireTools(tb testing.TB, tools ...string) {
	tb.Helper()
	err := missing(tools)
	switch {
	case err == nil:
	case os.Getenv(requireJavaEnv) == "1":
		tb.Fatalf("%v (%s=1)", err, requireJavaEnv)
	default:
		tb.Skipf("%v: make deps, or install it, to run this test", err)
	}
}

var javaTools = []string{"java", "javac", "mvn"}

func missing(tools []string) error {
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("peer: %s is not installed", tool)
		}
	}
	return nil
}

// MavenProject is a compiled Maven project: where its classes are and what they
// need at run time.
type MavenProject struct {
	// Classpath holds the project's own classes first, then its dependencies.
	Classpath string
}

// BuildMaven compiles the Maven project in dir and resolves its runtime
// classpath. Further arguments of mvn, such as a profile, may be given. The
// result is kept in the user's cache directory under a hash of the project's
// files and of these arguments, so that an unchanged project costs one
// directory walk.
func BuildMaven(ctx context.Context, dir string, args ...string) (*MavenProject, error) {
	key, err := hashProject(dir, args)
	if err != nil {
		return nil, fmt.Errorf("peer: read Maven project %s: %w", dir, err)
	}
	out, err := cacheDir("maven", key)
	if err != nil {
		return nil, err
	}
	unlock, err := lockDir(out)
	if err != nil {
		return nil, err
	}
	defer unlock()

	file := filepath.Join(out, "classpath")
	if cp, ok := readClasspath(file); ok {
		return &MavenProject{Classpath: cp}, nil
	}
	target := filepath.Join(out, "target")
	cmd := exec.CommandContext(ctx, "mvn", append([]string{"-q", "-B", "-ntp",
		"-f", filepath.Join(dir, "pom.xml"),
		"-DbuildDirectory=" + target,
		"compile", dependencyPlugin,
		"-Dmdep.includeScope=runtime", "-Dmdep.outputFile=" + file + ".new"}, args...)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("peer: mvn in %s: %w\n%s", dir, err, log.String())
	}
	resolved, err := os.ReadFile(file + ".new")
	if err != nil {
		return nil, fmt.Errorf("peer: mvn left no classpath: %w", err)
	}
	cp := filepath.Join(target, "classes") + string(os.PathListSeparator) + strings.TrimSpace(string(resolved))
	if err := os.WriteFile(file, []byte(cp), 0o600); err != nil {
		return nil, fmt.Errorf("peer: keep classpath: %w", err)
	}
	return &MavenProject{Classpath: cp}, nil
}

// readClasspath accepts a kept classpath only when every jar is still there: a
// cleaned Maven repository must not turn into a ClassNotFoundException.
func readClasspath(file string) (string, bool) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	for _, entry := range filepath.SplitList(string(raw)) {
		if !strings.HasSuffix(entry, ".jar") {
			continue
		}
		if _, err := os.Stat(entry); err != nil {
			return "", false
		}
	}
	return string(raw), true
}

// hashProject covers pom.xml, everything below src and the arguments of mvn.
func hashProject(dir string, args []string) (string, error) {
	h := sha256.New()
	for _, arg := range args {
		fmt.Fprintf(h, "%s\n", arg)
	}
	add := func(path string) error {
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", rel, len(body))
		h.Write(body)
		return nil
	}
	if err := add(filepath.Join(dir, "pom.xml")); err != nil {
		return "", err
	}
	err := filepath.WalkDir(filepath.Join(dir, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(path)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// cacheDir makes and returns a directory below the user's cache directory.
func cacheDir(parts ...string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), "cache")
	}
	dir := filepath.Join(append([]string{base, "wheelmq-test"}, parts...)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("peer: cache directory: %w", err)
	}
	return dir, nil
}

// sourceDir is the directory of this package's source, where pom.xml and the
// module root are found from.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

var classpathOnce struct {
	sync.Mutex
	value string
}

// Classpath resolves broker, name server, tools and client of RocketMQ 5.5.0
// and returns them as one Java classpath. The first call on a machine downloads
// about 60 MB through Maven; later calls read a cached list.
func Classpath(ctx context.Context) (string, error) {
	if err := missing(javaTools); err != nil {
		return "", err
	}
	classpathOnce.Lock()
	defer classpathOnce.Unlock()
	if classpathOnce.value == "" {
		p, err := BuildMaven(ctx, sourceDir())
		if err != nil {
			return "", err
		}
		classpathOnce.value = p.Classpath
	}
	return classpathOnce.value, nil
}
