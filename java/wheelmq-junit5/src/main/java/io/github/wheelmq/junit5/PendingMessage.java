package io.github.wheelmq.junit5;

import java.time.Instant;

/** A message that waits for its time. */
public final class PendingMessage {
    private final Message message;
    private final Due due;

    PendingMessage(Message message, Due due) {
        this.message = message;
        this.due = due;
    }

    /** The members of the answer beside those of the message. */
    static final class Due {
        private long dueMs;
        private int level;
    }

    /**
     * The message as it will be in its topic, but for its place there.
     *
     * @return the message
     */
    public Message message() {
        return message;
    }

    /**
     * When it will be delivered, by the clock of messages.
     *
     * @return the instant
     */
    public Instant dueAt() {
        return Instant.ofEpochMilli(due.dueMs);
    }

    /**
     * Its delay level.
     *
     * @return the level, from 1; 0 when it waits for an instant of its own
     */
    public int level() {
        return due.level;
    }

    @Override
    public String toString() {
        return "due " + dueAt() + ": " + message;
    }
}
