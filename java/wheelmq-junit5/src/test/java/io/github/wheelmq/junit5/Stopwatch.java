package io.github.wheelmq.junit5;

/** Prints how long something took; nothing is asserted of it. */
final class Stopwatch {
    private final long begin = System.nanoTime();

    void print(String what) {
        System.out.println("MEASURED " + what + ": " + (System.nanoTime() - begin) / 1_000_000 + " ms");
    }
}
