package com.github.wheelmq.clienttest;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Whole lines on standard output, where the other end parses them. */
final class Report {
    private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private Report() {}

    static void line(String format, Object... args) {
        String text = args.length == 0 ? format : String.format(format, args);
        synchronized (OUT) {
            OUT.println(text.replace("\n", " | "));
        }
    }
}
