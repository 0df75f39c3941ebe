package com.github.wheelmq.clienttest;

import java.util.Objects;

/** What a scenario states. A false statement ends the scenario with the statement's text. */
final class Check {
    private Check() {}

    static void that(boolean holds, String format, Object... args) {
        if (!holds) {
            throw new AssertionError(String.format(format, args));
        }
    }

    static void equal(Object want, Object got, String what) {
        that(Objects.equals(want, got), "%s: want %s, got %s", what, want, got);
    }

    /** Something that is expected to throw. */
    interface Attempt {
        void run() throws Exception;
    }

    /** Runs attempt and returns what it threw, which must be a {@code type}. */
    static <E extends Exception> E fails(Class<E> type, String what, Attempt attempt) throws Exception {
        try {
            attempt.run();
        } catch (Exception e) {
            if (type.isInstance(e)) {
                return type.cast(e);
            }
            throw e;
        }
        throw new AssertionError(what + ": want " + type.getSimpleName() + ", but it succeeded");
    }
}
