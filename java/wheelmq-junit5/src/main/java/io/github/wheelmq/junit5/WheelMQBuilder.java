package io.github.wheelmq.junit5;

import java.nio.file.Path;
import java.time.Duration;

/** What a server is started with. */
public final class WheelMQBuilder {
    private final Settings settings = new Settings();

    WheelMQBuilder() {
    }

    /**
     * With a clock of messages that moves only when {@link WheelMQ#clock()} turns it.
     *
     * @return this
     */
    public WheelMQBuilder virtualClock() {
        settings.virtualClock = true;
        return this;
    }

    /**
     * With a virtual clock that goes on by itself to the next due instant whenever nothing is in flight.
     *
     * @return this
     */
    public WheelMQBuilder autoSkip() {
        settings.virtualClock = true;
        settings.autoSkip = true;
        return this;
    }

    /**
     * With a topic. Without it topics come into being when they are first sent to, as with the real broker.
     *
     * @param name its name
     * @param queues how many queues it has
     * @return this
     */
    public WheelMQBuilder topic(String name, int queues) {
        settings.topics.put(name, queues);
        return this;
    }

    /**
     * With a consumer group. Without it groups come into being when they first consume, with sixteen retries.
     *
     * @param name its name
     * @param maxRetry retries before a message becomes a dead letter, for consumers that do not say so themselves; push
     *     consumers always do, with 16 unless {@code setMaxReconsumeTimes} is called
     * @return this
     */
    public WheelMQBuilder group(String name, int maxRetry) {
        settings.groups.put(name, maxRetry);
        return this;
    }

    /**
     * As the real broker of a version behaves, without what WheelMQ does better.
     *
     * @param version {@code 5.5.0}
     * @return this
     */
    public WheelMQBuilder profile(String version) {
        return set("profile", version);
    }

    /**
     * With a key of broker.conf.
     *
     * @param key its name, as in RocketMQ
     * @param value its value
     * @return this
     */
    public WheelMQBuilder set(String key, String value) {
        settings.keys.add(key + "=" + value);
        return this;
    }

    /**
     * With this binary, instead of the one that the system property {@code wheelmq.binary}, the environment variable
     * {@code WHEELMQ_BIN} or the PATH names.
     *
     * @param file the server's program
     * @return this
     */
    public WheelMQBuilder binary(Path file) {
        settings.binary = file;
        return this;
    }

    /**
     * How long a start may take, 30 seconds when it is not said.
     *
     * @param timeout in real time
     * @return this
     */
    public WheelMQBuilder startTimeout(Duration timeout) {
        settings.startTimeout = timeout;
        return this;
    }

    /**
     * Leaves the system properties alone that an extension sets while its server runs: {@code rocketmq.name-server} for
     * Spring and {@code rocketmq.namesrv.addr} for clients that are given no name server.
     *
     * @return this
     */
    public WheelMQBuilder withoutSystemProperties() {
        settings.systemProperties = false;
        return this;
    }

    /**
     * An extension, for a field with {@code @RegisterExtension}.
     *
     * @return the extension
     */
    public WheelMQExtension build() {
        return new WheelMQExtension(settings.copy());
    }

    /**
     * Starts a server that is not bound to a test class.
     *
     * @return the server, to be closed by the caller
     * @throws WheelMQException of kind {@code start} when it does not start
     */
    public WheelMQ start() {
        return WheelMQ.start(settings.copy());
    }
}
