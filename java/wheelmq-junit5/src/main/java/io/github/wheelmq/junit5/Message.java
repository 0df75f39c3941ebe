package io.github.wheelmq.junit5;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

/** A message in a queue. */
public final class Message {
    private String topic;
    private int queueId;
    private long queueOffset;
    private String msgId;
    private String offsetMsgId;
    private String tags;
    private String keys;
    private long bornMs;
    private long storeMs;
    private int reconsumeTimes;
    private Map<String, String> properties;
    private byte[] body;

    private Message() {
    }

    /**
     * The topic it is in.
     *
     * @return the name
     */
    public String topic() {
        return topic;
    }

    /**
     * The queue it is in.
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

    /**
     * The id that the producer gave it, which it keeps over retries.
     *
     * @return the client's message id
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
     * Its tags.
     *
     * @return the tags, empty for none
     */
    public String tags() {
        return tags == null ? "" : tags;
    }

    /**
     * Its keys.
     *
     * @return the keys with spaces between them, empty for none
     */
    public String keys() {
        return keys == null ? "" : keys;
    }

    /**
     * When its producer made it, by the producer's clock.
     *
     * @return the instant
     */
    public Instant bornAt() {
        return Instant.ofEpochMilli(bornMs);
    }

    /**
     * When it was stored, by the clock of messages.
     *
     * @return the instant
     */
    public Instant storedAt() {
        return Instant.ofEpochMilli(storeMs);
    }

    /**
     * How often it has been given back.
     *
     * @return the number of retries so far
     */
    public int reconsumeTimes() {
        return reconsumeTimes;
    }

    /**
     * Its properties, the system's too.
     *
     * @return a map that cannot be changed
     */
    public Map<String, String> properties() {
        return properties == null ? Map.of() : Map.copyOf(properties);
    }

    /**
     * Its body as it is stored, perhaps compressed by the producer.
     *
     * @return a copy
     */
    public byte[] body() {
        return body == null ? new byte[0] : body.clone();
    }

    /**
     * Its body as text in UTF-8.
     *
     * @return the text
     */
    public String text() {
        return body == null ? "" : new String(body, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return topic + "[" + queueId + "] offset " + queueOffset + " \"" + text() + "\" (" + msgId + ")";
    }
}
