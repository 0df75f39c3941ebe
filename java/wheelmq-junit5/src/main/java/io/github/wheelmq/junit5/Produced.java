package io.github.wheelmq.junit5;

/** Where a message was stored; for a delayed one that is where it waits. */
public final class Produced {
    private String msgId;
    private String offsetMsgId;
    private int queueId;
    private long queueOffset;

    private Produced() {
    }

    /**
     * The id it has like one that a client sent.
     *
     * @return the message id
     */
    public String msgId() {
        return msgId;
    }

    /**
     * The id that says where it is stored.
     *
     * @return the broker's address and the offset in its log, in hexadecimal
     */
    public String offsetMsgId() {
        return offsetMsgId;
    }

    /**
     * The queue it went to.
     *
     * @return the number of the queue, from 0
     */
    public int queueId() {
        return queueId;
    }

    /**
     * Its place in the queue.
     *
     * @return the offset, from 0
     */
    public long queueOffset() {
        return queueOffset;
    }
}
