package io.github.wheelmq.junit5;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.time.Duration;

/**
 * A rule by which the server fails; {@link Faults#add} puts it in force. Each method returns a changed copy. Codes are
 * the names of RocketMQ's constants ({@code SEND_MESSAGE_V2}, {@code SYSTEM_BUSY}) or numbers as text; the request code
 * {@code *} stands for every request.
 */
public final class Fault {
    private final JsonObject json;

    private Fault(JsonObject json) {
        this.json = json;
    }

    /**
     * Requests are answered with a response code and not executed.
     *
     * @param request the request code; the Java client sends a message with {@code SEND_MESSAGE_V2}
     * @param response the response code
     * @return the rule
     */
    public static Fault respond(String request, String response) {
        return on(request).with("respond", code(response));
    }

    /**
     * Requests are executed, and their answers held back.
     *
     * @param request the request code
     * @param delay for how long, in real time
     * @return the rule
     */
    public static Fault delay(String request, Duration delay) {
        return on(request).with("delayMs", new JsonPrimitive(delay.toMillis()));
    }

    /**
     * Requests are executed and not answered: a producer times out and sends again, and the message is there twice.
     *
     * @param request the request code
     * @return the rule
     */
    public static Fault dropReply(String request) {
        return on(request).with("dropReply", new JsonPrimitive(true));
    }

    /**
     * The connection is closed instead of an answer; the request is not executed.
     *
     * @param request the request code
     * @return the rule
     */
    public static Fault closeConnection(String request) {
        return on(request).with("closeConn", new JsonPrimitive(true));
    }

    /**
     * The store finds no space.
     *
     * @return the rule
     */
    public static Fault diskFull() {
        return state("diskFull");
    }

    /**
     * Syncs of the store fail.
     *
     * @return the rule
     */
    public static Fault fsyncFails() {
        return state("fsyncFails");
    }

    /**
     * The name server answers as if the broker were not registered; {@link #topic} narrows it.
     *
     * @return the rule
     */
    public static Fault brokerMissing() {
        return state("brokerMissing");
    }

    /**
     * Due messages are not delivered.
     *
     * @return the rule
     */
    public static Fault schedulerStalled() {
        return state("schedulerStalled");
    }

    /**
     * Only for requests about a topic.
     *
     * @param topic its name
     * @return a copy with it
     */
    public Fault topic(String topic) {
        return with("topic", new JsonPrimitive(topic));
    }

    /**
     * Only for requests of a consumer or producer group.
     *
     * @param group its name
     * @return a copy with it
     */
    public Fault group(String group) {
        return with("group", new JsonPrimitive(group));
    }

    /**
     * Lets requests through first.
     *
     * @param requests how many
     * @return a copy with it
     */
    public Fault after(int requests) {
        return with("skip", new JsonPrimitive(requests));
    }

    /**
     * Applies so often and then no more. Without it the rule applies until it is removed.
     *
     * @param times how often
     * @return a copy with it
     */
    public Fault times(int times) {
        return with("count", new JsonPrimitive(times));
    }

    /**
     * The remark of the answer, with {@link #respond}.
     *
     * @param remark what clients show
     * @return a copy with it
     */
    public Fault remark(String remark) {
        return with("remark", new JsonPrimitive(remark));
    }

    /**
     * A name for the rule, which the log of exchanges shows; the server chooses one without it.
     *
     * @param id the name
     * @return a copy with it
     */
    public Fault id(String id) {
        return with("id", new JsonPrimitive(id));
    }

    private static Fault on(String request) {
        Fault every = new Fault(new JsonObject());
        return request.equals("*") ? every : every.with("code", code(request));
    }

    private static Fault state(String name) {
        return new Fault(new JsonObject()).with(name, new JsonPrimitive(true));
    }

    private static JsonPrimitive code(String text) {
        return text.matches("\\d+") ? new JsonPrimitive(Integer.valueOf(text)) : new JsonPrimitive(text);
    }

    private Fault with(String name, JsonElement value) {
        JsonObject copy = json.deepCopy();
        copy.add(name, value);
        return new Fault(copy);
    }

    JsonObject json() {
        return json;
    }

    @Override
    public String toString() {
        return json.toString();
    }
}
