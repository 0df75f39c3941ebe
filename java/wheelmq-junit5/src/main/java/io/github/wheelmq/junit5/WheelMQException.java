package io.github.wheelmq.junit5;

/** What was asked of a server could not be done; the message says why. */
public final class WheelMQException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What is wrong, for programs. */
    private final String kind;

    WheelMQException(String kind, String message) {
        super(message);
        this.kind = kind;
    }

    WheelMQException(String kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /**
     * Says what is wrong, for programs.
     *
     * @return {@code invalid}, {@code not-found}, {@code timeout} (what was waited for did not happen), {@code busy}
     *     (clients are still at work), {@code real-clock} (the server has no virtual clock), {@code nothing-pending},
     *     {@code limit} (a condition did not hold in time), {@code start} (the server did not start),
     *     {@code connection} (it does not answer), or another kind of the HTTP API
     */
    public String kind() {
        return kind;
    }
}
