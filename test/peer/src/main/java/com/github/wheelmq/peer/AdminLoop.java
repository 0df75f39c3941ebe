package com.github.wheelmq.peer;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.Permission;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Runs many mqadmin commands in one JVM, because starting one costs more than the command does.
 *
 * <p>A command is a line of arguments separated by U+001F. The answer is a line {@code stdoutBytes
 * stderrBytes exitCode}, then exactly that many bytes of each. The end of standard input ends the loop.
 */
public final class AdminLoop {
    private static final String SEPARATOR = "\u001f";
    private static final long COMMAND_TIMEOUT_MILLIS = 120_000;
    private static final long PAUSE_MILLIS = 20;

    private AdminLoop() {}

    public static void main(String[] unused) throws Exception {
        PrintStream wire = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exits exits = new Exits();
        System.setSecurityManager(exits);
        String line;
        while ((line = commands.readLine()) != null) {
            run(line.split(SEPARATOR, -1), wire, exits);
        }
        exits.allowed = true;
        // Clients that a command left running would keep the JVM alive.
        System.exit(0);
    }

    private static void run(String[] command, PrintStream wire, Exits exits) throws IOException, InterruptedException {
        exits.code = 0;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        Thread worker = new Thread(() -> {
            try {
                FreshStartup.run(command);
            } catch (Exit e) {
                exits.code = e.code;
            }
        }, "mqadmin " + command[0]);
        worker.setDaemon(true);
        worker.start();
        long deadline = System.nanoTime() + COMMAND_TIMEOUT_MILLIS * 1_000_000;
        while (worker.isAlive() && System.nanoTime() < deadline) {
            worker.join(PAUSE_MILLIS);
            hurry(worker);
        }
        if (worker.isAlive()) {
            System.err.println("mqadmin " + command[0] + " did not end within " + COMMAND_TIMEOUT_MILLIS + " ms");
            for (StackTraceElement frame : worker.getStackTrace()) {
                System.err.println("\tat " + frame);
            }
        }
        System.out.flush();
        System.err.flush();
        byte[] stdout = out.toByteArray();
        byte[] stderr = err.toByteArray();
        wire.print(stdout.length + " " + stderr.length + " " + exits.code + "\n");
        wire.write(stdout);
        wire.write(stderr);
        wire.flush();
    }

    /**
     * Ends the wait of a client that shuts down: it joins its thread of connection events, which looks
     * every three seconds only whether it is to end.
     */
    private static void hurry(Thread worker) {
        for (StackTraceElement frame : worker.getStackTrace()) {
            if (frame.getClassName().endsWith(".ServiceThread") && frame.getMethodName().equals("shutdown")) {
                Thread[] all = new Thread[2 * Thread.activeCount()];
                for (int i = Thread.enumerate(all) - 1; i >= 0; i--) {
                    if (all[i].getName().equals("NettyEventExecutor")) {
                        all[i].interrupt();
                    }
                }
                return;
            }
        }
    }

    /** mqadmin registers its commands on every call, but some of them can run only once. */
    private static final class FreshStartup extends MQAdminStartup {
        static void run(String[] command) {
            SUB_COMMANDS.clear();
            main0(command, null);
        }
    }

    /** A command that ends the JVM ends itself only, and its exit code is told. */
    private static final class Exit extends Error {
        private static final long serialVersionUID = 1L;
        final int code;

        Exit(int code) {
            super("exit " + code, null, false, false);
            this.code = code;
        }
    }

    private static final class Exits extends SecurityManager {
        volatile boolean allowed;
        volatile int code;

        @Override
        public void checkExit(int status) {
            if (!allowed) {
                throw new Exit(status);
            }
        }

        @Override
        public void checkPermission(Permission permission) {}
    }
}
