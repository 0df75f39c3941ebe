package io.github.wheelmq.junit5;

import java.time.Duration;

/** A fault rule in force. */
public final class ActiveFault implements AutoCloseable {
    private final TestApi api;
    private final String id;

    ActiveFault(TestApi api, String id) {
        this.api = api;
        this.id = id;
    }

    /** The members of the answer that are needed. */
    static final class State {
        String id;
        private long hits;
        private boolean spent;
    }

    /**
     * Its name, which the log of exchanges shows.
     *
     * @return the id
     */
    public String id() {
        return id;
    }

    /**
     * How often it has applied.
     *
     * @return the number
     */
    public long hits() {
        return state("").hits;
    }

    /**
     * Whether it has applied as often as it was to.
     *
     * @return true when it does no more
     */
    public boolean spent() {
        return state("").spent;
    }

    /**
     * Waits until it has applied so often.
     *
     * @param hits how often
     * @param timeout the real time to wait at most
     * @throws WheelMQException of kind {@code timeout} when it has not
     */
    public void awaitHits(long hits, Duration timeout) {
        state("?hits=" + hits + "&timeout=" + timeout.toMillis() + "ms");
    }

    /** Takes it out of force. */
    public void remove() {
        api.delete(path());
    }

    /** Is {@link #remove}, for a try statement. */
    @Override
    public void close() {
        remove();
    }

    private State state(String query) {
        return api.get(path() + query, State.class);
    }

    private String path() {
        return "/test/faults/" + TestApi.encode(id);
    }
}
