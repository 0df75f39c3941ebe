package io.github.wheelmq.junit5;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A running WheelMQ: name server and broker in one process, with an empty store in memory. Clients need nothing but
 * {@link #nameServer()}.
 */
public final class WheelMQ implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(WheelMQ.class.getName());

    private final Settings settings;
    private final ServerProcess process;
    private final TestApi api;
    private final VirtualClock clock;
    private final Faults faults;

    private WheelMQ(Settings settings, ServerProcess process) {
        this.settings = settings;
        this.process = process;
        this.api = new TestApi(process.addresses().http());
        this.clock = new VirtualClock(api);
        this.faults = new Faults(api);
    }

    static WheelMQ start(Settings settings) {
        WheelMQ server = new WheelMQ(settings, ServerProcess.start(settings));
        try {
            server.prepare();
        } catch (RuntimeException e) {
            server.process.close();
            throw e;
        }
        return server;
    }

    /**
     * What a server is started with, for one that is not bound to a test class: {@link WheelMQBuilder#start()}.
     *
     * @return a builder
     */
    public static WheelMQBuilder builder() {
        return new WheelMQBuilder();
    }

    /**
     * What clients set as their name server.
     *
     * @return host:port
     */
    public String nameServer() {
        return process.addresses().nameServer;
    }

    /**
     * The broker's address.
     *
     * @return host:port
     */
    public String broker() {
        return process.addresses().broker;
    }

    /**
     * Where {@code /health}, {@code /metrics} and {@code /test/} are.
     *
     * @return host:port
     */
    public String http() {
        return process.addresses().http;
    }

    /**
     * The clock of messages.
     *
     * @return the clock, which can be turned when the server was started with {@link WheelMQBuilder#virtualClock()}
     */
    public VirtualClock clock() {
        return clock;
    }

    /**
     * The rules by which the server fails.
     *
     * @return the rules
     */
    public Faults faults() {
        return faults;
    }

    /**
     * Makes a topic, or gives one that exists so many queues.
     *
     * @param name its name
     * @param queues how many queues it has
     */
    public void createTopic(String name, int queues) {
        api.put("/test/topics/" + TestApi.encode(name) + "?queues=" + queues);
    }

    /**
     * Makes a consumer group, or changes how often its messages are retried.
     *
     * @param name its name
     * @param maxRetry retries before a message becomes a dead letter, for consumers that do not say so themselves; push
     *     consumers always do, with 16 unless {@code setMaxReconsumeTimes} is called
     */
    public void createGroup(String name, int maxRetry) {
        api.put(group(name) + "?maxRetry=" + maxRetry);
    }

    /**
     * Messages that wait for their time.
     *
     * @return the first thousand, in due order
     */
    public List<PendingMessage> pending() {
        List<PendingMessage> all = new ArrayList<>();
        for (JsonElement one : list("/test/pending", "pending")) {
            String json = one.toString();
            all.add(new PendingMessage(TestApi.parse(json, Message.class), TestApi.parse(json, PendingMessage.Due.class)));
        }
        return all;
    }

    /**
     * Messages of a topic, of all its queues.
     *
     * @param topic its name
     * @return the first thousand, in the order in which they were stored
     */
    public List<Message> messages(String topic) {
        return messagesAt("/test/messages?topic=" + TestApi.encode(topic));
    }

    /**
     * Dead letters of a consumer group.
     *
     * @param group its name
     * @return the first thousand, in the order in which they were stored; empty when there are none yet
     */
    public List<Message> dlq(String group) {
        return messagesAt(group(group) + "/dlq");
    }

    /**
     * Stores a message as if a client had sent it.
     *
     * @param message the message
     * @return where it was stored
     */
    public Produced produce(Outgoing message) {
        return api.post("/test/messages", message.json(), Produced.class);
    }

    /**
     * Stores a text as if a client had sent it.
     *
     * @param topic where it goes
     * @param text its body, in UTF-8
     * @return where it was stored
     */
    public Produced produce(String topic, String text) {
        return produce(Outgoing.to(topic, text));
    }

    /**
     * How far a consumer group is behind on a topic. Clients commit every few seconds, so it falls later than messages
     * are consumed.
     *
     * @param group its name
     * @param topic the topic's name
     * @return messages not committed
     */
    public long lag(String group, String topic) {
        return api.get(group(group) + "/lag?topic=" + TestApi.encode(topic), JsonObject.class).get("lag").getAsLong();
    }

    /**
     * How far a consumer group is behind on all its topics.
     *
     * @param group its name
     * @return messages not committed
     */
    public long lag(String group) {
        return api.get(group(group) + "/lag", JsonObject.class).get("lag").getAsLong();
    }

    /**
     * How many messages a consumer group has consumed with success since the server was started or restarted.
     *
     * @param group its name
     * @return the number
     */
    public long consumed(String group) {
        return consumedAt(group(group) + "/consumed");
    }

    /**
     * Waits until a consumer group has consumed so many messages with success since the server was started or restarted.
     *
     * @param group its name
     * @param count how many
     * @param timeout the real time to wait at most
     * @return how many it has consumed, perhaps more
     * @throws WheelMQException of kind {@code timeout} when it has not
     */
    public long awaitConsumed(String group, long count, Duration timeout) {
        return consumedAt(group(group) + "/consumed?atLeast=" + count + "&timeout=" + timeout.toMillis() + "ms");
    }

    /**
     * Forgets messages, topics, groups, offsets and faults, as if just started. Topics and groups that the settings name
     * are made again. A consumer that is online goes on with what is there after some three seconds.
     */
    public void reset() {
        api.post("/test/reset");
        prepare();
    }

    /** Stops broker and name server cleanly and starts them on the same store and ports. */
    public void restart() {
        api.post("/test/restart");
    }

    /** Loses what a power cut would lose, and starts on the rest: a message that was not synced may be gone. */
    public void kill() {
        api.post("/test/kill");
    }

    /**
     * Keeps the present state.
     *
     * @param name to restore it by; what had that name is replaced
     */
    public void snapshot(String name) {
        api.put("/test/snapshots/" + TestApi.encode(name));
    }

    /**
     * Goes back to a state. A consumer that is online goes on with what is there after some three seconds.
     *
     * @param name that {@link #snapshot} was given
     */
    public void restore(String name) {
        api.post("/test/snapshots/" + TestApi.encode(name) + "/restore");
    }

    /**
     * What clients relied on that the real broker lacks: a test that is green here for that reason is red in production.
     *
     * @return one entry for each difference, none when the real broker would have done the same
     */
    public List<Difference> differences() {
        List<Difference> all = new ArrayList<>();
        for (JsonElement one : list("/test/differences", "differences")) {
            all.add(TestApi.parse(one.toString(), Difference.class));
        }
        return all;
    }

    /**
     * The last 50 requests and their answers.
     *
     * @return a table for people, oldest first
     */
    public String exchanges() {
        return api.text("/test/exchanges?format=text");
    }

    /**
     * What the server has logged.
     *
     * @return its last lines
     */
    public String log() {
        return process.log().text();
    }

    /** Ends the server, and logs the differences that clients relied on. The extension calls it by itself. */
    @Override
    public void close() {
        try {
            if (process.running()) {
                differences().forEach(one -> LOG.log(System.Logger.Level.WARNING, "relied on {0}", one));
            }
        } catch (WheelMQException e) {
            LOG.log(System.Logger.Level.WARNING, "no list of differences", e);
        } finally {
            process.close();
        }
    }

    /** What the settings ask for beyond the command line. */
    private void prepare() {
        settings.topics.forEach(this::createTopic);
        settings.groups.forEach(this::createGroup);
        if (settings.autoSkip) {
            clock.autoSkip(true);
        }
    }

    ServerProcess process() {
        return process;
    }

    private long consumedAt(String path) {
        return api.get(path, JsonObject.class).get("consumed").getAsLong();
    }

    private List<Message> messagesAt(String path) {
        List<Message> all = new ArrayList<>();
        for (JsonElement one : list(path, "messages")) {
            all.add(TestApi.parse(one.toString(), Message.class));
        }
        return all;
    }

    private JsonArray list(String path, String member) {
        return api.get(path, JsonObject.class).getAsJsonArray(member);
    }

    private static String group(String name) {
        return "/test/groups/" + TestApi.encode(name);
    }
}
