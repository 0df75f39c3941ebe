package io.github.wheelmq.junit5;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The server's process. It ends when its standard input does, so that none survives this JVM, however that ends. */
final class ServerProcess implements AutoCloseable {
    private static final Duration STOP = Duration.ofSeconds(10);

    private final Process process;
    private final ServerLog log = new ServerLog();
    private final Thread reader;
    private final Path dir;
    private Addresses addresses;

    private ServerProcess(Process process, Path dir) {
        this.process = process;
        this.dir = dir;
        this.reader = new Thread(() -> log.readAll(process.getInputStream()), "wheelmq-log-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a server and waits until it serves. */
    static ServerProcess start(Settings settings) {
        Path binary = settings.binary == null ? Binary.find() : settings.binary;
        ServerProcess server = launch(binary, settings);
        try {
            server.addresses = server.awaitReady(settings.startTimeout);
            return server;
        } catch (WheelMQException e) {
            server.close();
            throw e;
        }
    }

    private static ServerProcess launch(Path binary, Settings settings) {
        Path dir = null;
        try {
            dir = Files.createTempDirectory("wheelmq-");
            List<String> command = new ArrayList<>(List.of(binary.toString(), "serve", "--bind", "127.0.0.1", "--free-ports",
                "--ready-file", ready(dir).toString(), "--exit-with-stdin"));
            command.addAll(settings.flags());
            return new ServerProcess(new ProcessBuilder(command).directory(dir.toFile()).redirectErrorStream(true).start(), dir);
        } catch (IOException e) {
            remove(dir);
            throw new WheelMQException("start", "cannot run " + binary + ": " + e.getMessage(), e);
        }
    }

    private static Path ready(Path dir) {
        return dir.resolve("ready.json");
    }

    private Addresses awaitReady(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        Path file = ready(dir);
        try {
            while (!Files.exists(file)) {
                if (process.waitFor(2, TimeUnit.MILLISECONDS)) {
                    reader.join(STOP.toMillis());
                    throw failed("WheelMQ ended with exit code " + process.exitValue() + " before it was ready");
                }
                if (System.nanoTime() - end > 0) {
                    throw failed("WheelMQ was not ready after " + timeout);
                }
            }
            return TestApi.parse(Files.readString(file), Addresses.class);
        } catch (IOException e) {
            throw new WheelMQException("start", "cannot read " + file + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WheelMQException("interrupted", "interrupted while WheelMQ started", e);
        }
    }

    private WheelMQException failed(String what) {
        return new WheelMQException("start", what + "; its log:\n" + log.text());
    }

    Addresses addresses() {
        return addresses;
    }

    ServerLog log() {
        return log;
    }

    boolean running() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    /** Ends the process: the closed input first, then the signals. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            log.add("standard input of the server: " + e);
        }
        if (!ended()) {
            process.destroy();
        }
        if (!ended()) {
            process.destroyForcibly();
            ended();
        }
        remove(dir);
    }

    private boolean ended() {
        boolean interrupted = Thread.interrupted();
        try {
            return process.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
            return false;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What stays behind is a small file in the directory for temporary ones. */
    private static void remove(Path dir) {
        if (dir == null) {
            return;
        }
        ready(dir).toFile().delete();
        dir.toFile().delete();
    }
}
