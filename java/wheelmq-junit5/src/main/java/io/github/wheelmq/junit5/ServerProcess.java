package io.github.wheelmq.junit5;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** The server's process. It ends when its standard input does, so that none survives this JVM, however that ends. */
final class ServerProcess implements AutoCloseable {
    private static final Duration STOP = Duration.ofSeconds(10);

    private final Process process;
    private final ServerLog log = new ServerLog();
    private final Thread reader;
    private final Path ready;
    private Addresses addresses;

    private ServerProcess(Process process, Path ready) {
        this.process = process;
        this.ready = ready;
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
        // Removed by the server when it ends, so that not even a JVM that is killed leaves it behind.
        Path ready = Path.of(System.getProperty("java.io.tmpdir"), "wheelmq-" + UUID.randomUUID() + ".json").toAbsolutePath();
        List<String> command = new ArrayList<>(List.of(binary.toString(), "serve", "--bind", "127.0.0.1", "--free-ports",
            "--ready-file", ready.toString(), "--exit-with-stdin"));
        command.addAll(settings.flags());
        try {
            return new ServerProcess(new ProcessBuilder(command).redirectErrorStream(true).start(), ready);
        } catch (IOException e) {
            throw new WheelMQException("start", "cannot run " + binary + ": " + e.getMessage(), e);
        }
    }

    private Addresses awaitReady(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            while (!Files.exists(ready)) {
                if (process.waitFor(2, TimeUnit.MILLISECONDS)) {
                    reader.join(STOP.toMillis());
                    throw failed("WheelMQ ended with exit code " + process.exitValue() + " before it was ready");
                }
                if (System.nanoTime() - end > 0) {
                    throw failed("WheelMQ was not ready after " + timeout);
                }
            }
            return TestApi.parse(Files.readString(ready), Addresses.class);
        } catch (IOException e) {
            throw new WheelMQException("start", "cannot read " + ready + ": " + e, e);
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
        // There is one still when the server was killed.
        ready.toFile().delete();
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
}
