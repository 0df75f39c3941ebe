package io.github.wheelmq.junit5;

import com.google.gson.JsonObject;

/** A condition that the server itself looks at while it turns the clock. */
public final class Until {
    private final JsonObject json;

    private Until(JsonObject json) {
        this.json = json;
    }

    /**
     * A topic has so many messages, or more.
     *
     * @param topic its name, {@code %DLQ%group} for dead letters
     * @param count how many
     * @return the condition
     */
    public static Until messages(String topic, long count) {
        return counted("topic", topic, "messages", count);
    }

    /**
     * A consumer group has consumed so many messages with success since the server was started or restarted, or more.
     *
     * @param group its name
     * @param count how many
     * @return the condition
     */
    public static Until consumed(String group, long count) {
        return counted("group", group, "consumed", count);
    }

    /**
     * Nothing waits for its time, and every client has finished with what it was given.
     *
     * @return the condition
     */
    public static Until idle() {
        JsonObject json = new JsonObject();
        json.addProperty("idle", true);
        return new Until(json);
    }

    /**
     * Both hold.
     *
     * @param other a condition of another kind than this
     * @return the condition
     */
    public Until and(Until other) {
        JsonObject both = json.deepCopy();
        other.json.entrySet().forEach(member -> {
            if (both.has(member.getKey())) {
                throw new IllegalArgumentException("both conditions set \"" + member.getKey() + "\"");
            }
            both.add(member.getKey(), member.getValue());
        });
        return new Until(both);
    }

    private static Until counted(String key, String name, String countKey, long count) {
        JsonObject json = new JsonObject();
        json.addProperty(key, name);
        json.addProperty(countKey, count);
        return new Until(json);
    }

    JsonObject json() {
        return json;
    }

    @Override
    public String toString() {
        return json.toString();
    }
}
