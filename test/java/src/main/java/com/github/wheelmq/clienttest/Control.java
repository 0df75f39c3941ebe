package com.github.wheelmq.clienttest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Asks the process that started this one, over standard output and input, to act on the server. */
final class Control {
    private static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Control() {}

    /** Stops the server cleanly and starts it on the same store and ports. */
    static synchronized void restartServer() throws IOException {
        Report.line("CONTROL restart");
        Check.equal("done", ANSWERS.readLine(), "answer to a restart");
    }
}
