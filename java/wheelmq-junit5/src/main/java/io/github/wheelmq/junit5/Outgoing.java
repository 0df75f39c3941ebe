package io.github.wheelmq.junit5;

import com.google.gson.JsonObject;
import java.util.Base64;

/** A message to store as if a client had sent it; each method returns a changed copy. */
public final class Outgoing {
    private final JsonObject json;

    private Outgoing(JsonObject json) {
        this.json = json;
    }

    /**
     * A message with a text in UTF-8 for its body.
     *
     * @param topic where it goes
     * @param text its body
     * @return the message
     */
    public static Outgoing to(String topic, String text) {
        JsonObject json = new JsonObject();
        json.addProperty("topic", topic);
        json.addProperty("text", text);
        return new Outgoing(json);
    }

    /**
     * A message with bytes for its body.
     *
     * @param topic where it goes
     * @param body its body
     * @return the message
     */
    public static Outgoing to(String topic, byte[] body) {
        JsonObject json = new JsonObject();
        json.addProperty("topic", topic);
        json.addProperty("body", Base64.getEncoder().encodeToString(body));
        return new Outgoing(json);
    }

    /**
     * With tags.
     *
     * @param tags what subscriptions filter by
     * @return a copy with them
     */
    public Outgoing tags(String tags) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("tags", tags);
        return new Outgoing(copy);
    }

    /**
     * With keys.
     *
     * @param keys keys with spaces between them
     * @return a copy with them
     */
    public Outgoing keys(String keys) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("keys", keys);
        return new Outgoing(copy);
    }

    /**
     * Into one queue, instead of each in turn.
     *
     * @param queueId the number of the queue, from 0
     * @return a copy for it
     */
    public Outgoing queue(int queueId) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("queueId", queueId);
        return new Outgoing(copy);
    }

    /**
     * With a delay.
     *
     * @param level the delay level, from 1
     * @return a copy with it
     */
    public Outgoing delayLevel(int level) {
        JsonObject copy = json.deepCopy();
        copy.addProperty("delayLevel", level);
        return new Outgoing(copy);
    }

    /**
     * With one more property.
     *
     * @param name of the property
     * @param value of the property
     * @return a copy with it
     */
    public Outgoing property(String name, String value) {
        JsonObject copy = json.deepCopy();
        if (!copy.has("properties")) {
            copy.add("properties", new JsonObject());
        }
        copy.getAsJsonObject("properties").addProperty(name, value);
        return new Outgoing(copy);
    }

    JsonObject json() {
        return json;
    }

    @Override
    public String toString() {
        return json.toString();
    }
}
