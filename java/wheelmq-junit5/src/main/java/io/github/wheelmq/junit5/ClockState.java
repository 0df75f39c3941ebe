package io.github.wheelmq.junit5;

import java.time.Instant;
import java.util.Optional;

/** Where the clock of messages stands, and what waits for it. */
public final class ClockState {
    private boolean virtual;
    private long nowMs;
    private long nextDueMs;
    private long pending;
    private boolean autoSkip;

    private ClockState() {
    }

    /**
     * Whether the clock can be turned.
     *
     * @return false for the machine's clock
     */
    public boolean virtual() {
        return virtual;
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
     * When the earliest pending message is due.
     *
     * @return the instant, empty when nothing waits
     */
    public Optional<Instant> nextDue() {
        return nextDueMs == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(nextDueMs));
    }

    /**
     * Messages that wait for their time.
     *
     * @return how many
     */
    public long pending() {
        return pending;
    }

    /**
     * Whether the clock goes on by itself whenever nothing is in flight.
     *
     * @return what {@link VirtualClock#autoSkip} has set
     */
    public boolean autoSkip() {
        return autoSkip;
    }

    @Override
    public String toString() {
        return now() + ", " + pending + " pending" + nextDue().map(due -> ", the next at " + due).orElse("");
    }
}
