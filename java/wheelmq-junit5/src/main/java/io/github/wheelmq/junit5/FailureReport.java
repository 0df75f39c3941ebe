package io.github.wheelmq.junit5;

import java.util.function.Supplier;

/** What somebody wants to see of a server when a test has failed. */
final class FailureReport {
    private FailureReport() {
    }

    static String of(String test, WheelMQ server) {
        return "WheelMQ when \"" + test + "\" failed: " + told(() -> server.clock().state().toString())
            + "\nlast exchanges:\n" + told(server::exchanges).stripTrailing()
            + "\nwarnings:\n" + server.process().log().warnings();
    }

    /** A server that has fallen over must not hide why the test failed. */
    private static String told(Supplier<String> part) {
        try {
            return part.get();
        } catch (WheelMQException e) {
            return "(" + e.getMessage() + ")";
        }
    }
}
