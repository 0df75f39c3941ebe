package io.github.wheelmq.junit5;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The clock of a server's messages. Delays and retries run on it; sockets, long polls and heartbeats stay on real time.
 * A server that was started without a virtual clock tells the machine's time and refuses to turn it.
 */
public final class VirtualClock {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final TestApi api;

    VirtualClock(TestApi api) {
        this.api = api;
    }

    /**
     * Where the clock stands.
     *
     * @return the instant
     */
    public Instant now() {
        return state().now();
    }

    /**
     * Where the clock stands, and what waits for it.
     *
     * @return the state
     */
    public ClockState state() {
        return api.get("/test/clock", ClockState.class);
    }

    /**
     * Turns the clock on, from one due instant to the next. When it returns, all that came due is in its topic and can be
     * pulled, in the order in which it was due.
     *
     * @param duration how far, in virtual time
     * @return what it has done
     */
    public Moved advance(Duration duration) {
        JsonObject body = new JsonObject();
        body.addProperty("ms", duration.toMillis());
        return api.post("/test/clock/advance", body, Moved.class);
    }

    /**
     * Turns the clock on to the next due instant.
     *
     * @return what it has done
     * @throws WheelMQException of kind {@code nothing-pending} when nothing waits
     */
    public Moved advanceToNext() {
        return api.post("/test/clock/advance-to-next", null, Moved.class);
    }

    /**
     * Turns the clock on from due instant to due instant until a condition holds, and lets clients finish their work in
     * between: a chain of retries runs to its end.
     *
     * @param condition looked at by the server
     * @param limit the virtual time that it may take
     * @return what it has done
     * @throws WheelMQException of kind {@code limit} when it does not hold by then, {@code busy} when clients do not finish
     */
    public Moved advanceUntil(Until condition, Duration limit) {
        JsonObject body = new JsonObject();
        body.add("until", condition.json());
        body.addProperty("limit", limit.toMillis());
        return api.post("/test/clock/advance-until", body, Moved.class);
    }

    /**
     * Is {@link #advanceUntil(BooleanSupplier, Duration, Duration)} with a patience of ten seconds.
     *
     * @param condition looked at between two instants, by the calling thread
     * @param limit the virtual time that it may take
     * @return what it has done
     */
    public Moved advanceUntil(BooleanSupplier condition, Duration limit) {
        return advanceUntil(condition, limit, PATIENCE);
    }

    /**
     * Turns the clock on from due instant to due instant until the test's own condition holds, and lets clients finish
     * their work in between.
     *
     * @param condition looked at between two instants, by the calling thread
     * @param limit the virtual time that it may take
     * @param patience the real time that the application's own threads have, when no message waits, to make it hold or
     *     to send another
     * @return what it has done
     * @throws WheelMQException of kind {@code limit} when it does not hold by then, {@code nothing-pending} when nothing
     *     is left that could make it hold, {@code busy} when clients do not finish
     */
    public Moved advanceUntil(BooleanSupplier condition, Duration limit, Duration patience) {
        Instant begin = now();
        Instant end = begin.plus(limit);
        int steps = 0;
        long delivered = 0;
        while (!condition.getAsBoolean()) {
            letClientsFinish();
            Optional<Instant> next = nextDueUnless(condition, patience);
            if (next.isEmpty()) {
                break;
            }
            if (next.get().isAfter(end)) {
                throw new WheelMQException("limit", "the condition does not hold after " + limit + ": " + state());
            }
            Moved moved = advanceToNext();
            steps += moved.steps();
            delivered += moved.delivered();
        }
        return new Moved(begin, now(), steps, delivered);
    }

    /**
     * Lets the clock go on by itself to the next due instant whenever nothing is in flight.
     *
     * @param on false to stop it
     */
    public void autoSkip(boolean on) {
        api.put("/test/clock/auto-skip?on=" + on);
    }

    /** Waits until every client has finished with what it was given, without turning the clock. */
    private void letClientsFinish() {
        try {
            advanceUntil(Until.idle(), Duration.ZERO);
        } catch (WheelMQException e) {
            if (!e.kind().equals("limit")) {
                throw e;
            }
        }
    }

    /** When the next message is due; empty when the condition holds. */
    private Optional<Instant> nextDueUnless(BooleanSupplier condition, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        do {
            if (condition.getAsBoolean()) {
                return Optional.empty();
            }
            Optional<Instant> next = state().nextDue();
            if (next.isPresent()) {
                return next;
            }
            pause();
        } while (System.nanoTime() - end < 0);
        throw new WheelMQException("nothing-pending", "the condition does not hold, and nothing waits that could change it");
    }

    private static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WheelMQException("interrupted", "interrupted while the clock was turned", e);
        }
    }
}
