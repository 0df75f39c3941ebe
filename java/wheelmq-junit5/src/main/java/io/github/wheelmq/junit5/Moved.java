package io.github.wheelmq.junit5;

import java.time.Duration;
import java.time.Instant;

/** What turning the clock has done. */
public final class Moved {
    private long fromMs;
    private long nowMs;
    private int steps;
    private long delivered;

    Moved(Instant from, Instant now, int steps, long delivered) {
        this.fromMs = from.toEpochMilli();
        this.nowMs = now.toEpochMilli();
        this.steps = steps;
        this.delivered = delivered;
    }

    /**
     * Where the clock stood before.
     *
     * @return the instant
     */
    public Instant from() {
        return Instant.ofEpochMilli(fromMs);
    }

    /**
     * Where the clock stands.
     *
     * @return the instant
     */
    public Instant now() {
        return Instant.ofEpochMilli(nowMs);
    }

    /**
     * How far it was turned.
     *
     * @return the virtual time that has passed
     */
    public Duration by() {
        return Duration.ofMillis(nowMs - fromMs);
    }

    /**
     * Due instants that were stopped at.
     *
     * @return how many
     */
    public int steps() {
        return steps;
    }

    /**
     * Messages that came due.
     *
     * @return how many
     */
    public long delivered() {
        return delivered;
    }

    @Override
    public String toString() {
        return "by " + by() + " to " + now() + " in " + steps + " steps, " + delivered + " delivered";
    }
}
