package io.github.wheelmq.junit5;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The last lines that a server has logged. */
final class ServerLog {
    private static final int LINES = 1000;

    private final Deque<String> lines = new ArrayDeque<>();

    /** Reads until the end of the stream, which is the end of the process. */
    void readAll(InputStream in) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("the log ends here: " + e);
        }
    }

    String text() {
        return matching(line -> true);
    }

    /** Lines of level warning or above. */
    String warnings() {
        return matching(line -> line.contains("level=warn") || line.contains("level=error") || line.contains("level=fatal"));
    }

    synchronized void add(String line) {
        if (lines.size() == LINES) {
            lines.removeFirst();
        }
        lines.addLast(line);
    }

    private synchronized String matching(Predicate<String> wanted) {
        return lines.stream().filter(wanted).collect(Collectors.joining("\n"));
    }
}
