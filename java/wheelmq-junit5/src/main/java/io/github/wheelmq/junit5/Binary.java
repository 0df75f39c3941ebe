package io.github.wheelmq.junit5;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;

/** Finds the server's binary, or builds it in a checkout of its source. */
final class Binary {
    static final String PROPERTY = "wheelmq.binary";
    static final String ENVIRONMENT = "WHEELMQ_BIN";

    private static final String MODULE = "module github.com/wheelmq/wheelmq";

    private static Path built;

    private Binary() {
    }

    /** The binary that the settings name, else the one on the PATH, else one built from the checkout around dir. */
    static Path find(String property, String environment, String searchPath, Path dir) {
        if (property != null && !property.isEmpty()) {
            return existing(property, "system property " + PROPERTY);
        }
        if (environment != null && !environment.isEmpty()) {
            return existing(environment, "environment variable " + ENVIRONMENT);
        }
        return onPath(searchPath == null ? "" : searchPath)
            .or(() -> checkout(dir).map(root -> build(root, dir)))
            .orElseThrow(() -> new WheelMQException("start", "no WheelMQ server found: name one with the system property "
                + PROPERTY + " or the environment variable " + ENVIRONMENT + ", or put `wheelmq` on the PATH"));
    }

    static Path find() {
        return find(System.getProperty(PROPERTY), System.getenv(ENVIRONMENT), System.getenv("PATH"), Path.of("").toAbsolutePath());
    }

    private static Path existing(String file, String source) {
        Path path = Path.of(file).toAbsolutePath();
        if (!Files.isExecutable(path) || Files.isDirectory(path)) {
            throw new WheelMQException("start", source + " names " + path + ", which is not a program");
        }
        return path;
    }

    private static Optional<Path> onPath(String searchPath) {
        for (String dir : searchPath.split(File.pathSeparator)) {
            Path file = Path.of(dir).resolve("wheelmq").toAbsolutePath();
            if (!dir.isEmpty() && Files.isExecutable(file) && !Files.isDirectory(file)) {
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }

    /** The root of the checkout that dir is in. */
    static Optional<Path> checkout(Path dir) {
        for (Path parent = dir; parent != null; parent = parent.getParent()) {
            Path mod = parent.resolve("go.mod");
            try {
                if (Files.isRegularFile(mod) && Files.readAllLines(mod).stream().anyMatch(line -> line.trim().equals(MODULE))) {
                    return Optional.of(parent);
                }
            } catch (IOException e) {
                throw new WheelMQException("start", "cannot read " + mod + ": " + e, e);
            }
        }
        return Optional.empty();
    }

    /** Builds once in this JVM; the lock keeps others from building into the same file meanwhile. */
    private static synchronized Path build(Path root, Path dir) {
        if (built != null) {
            return built;
        }
        Path target = dir.resolve("target").resolve("wheelmq");
        try {
            Files.createDirectories(target);
            try (FileChannel channel = FileChannel.open(target.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
                goBuild(root, target.resolve("wheelmq"));
                lock.release();
            }
        } catch (IOException e) {
            throw new WheelMQException("start", "cannot build WheelMQ in " + target + ": " + e.getMessage()
                + "; install Go, or name a server with the environment variable " + ENVIRONMENT, e);
        }
        built = target.resolve("wheelmq");
        return built;
    }

    private static void goBuild(Path root, Path binary) throws IOException {
        ProcessBuilder command = new ProcessBuilder(List.of("go", "build", "-trimpath", "-o", binary.toString(), "./cmd/wheelmq"));
        command.directory(root.toFile()).redirectErrorStream(true).environment().put("CGO_ENABLED", "0");
        Process go = command.start();
        go.getOutputStream().close();
        String output = new String(go.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (go.waitFor() != 0) {
                throw new WheelMQException("start", "go build in " + root + " failed:\n" + output);
            }
        } catch (InterruptedException e) {
            go.destroy();
            Thread.currentThread().interrupt();
            throw new WheelMQException("interrupted", "interrupted while WheelMQ was built", e);
        }
    }
}
