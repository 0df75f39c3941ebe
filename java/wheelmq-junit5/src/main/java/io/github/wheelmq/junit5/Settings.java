package io.github.wheelmq.junit5;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a server is started with. */
final class Settings {
    /** What the real broker gives a topic and a group that nobody says more of. */
    static final int DEFAULT_QUEUES = 4;
    static final int DEFAULT_RETRIES = 16;

    boolean virtualClock;
    boolean autoSkip;
    boolean systemProperties = true;
    Duration startTimeout = Duration.ofSeconds(30);
    Path binary;
    final Map<String, Integer> topics = new LinkedHashMap<>();
    final Map<String, Integer> groups = new LinkedHashMap<>();
    final List<String> keys = new ArrayList<>();

    Settings copy() {
        Settings copy = new Settings();
        copy.virtualClock = virtualClock;
        copy.autoSkip = autoSkip;
        copy.systemProperties = systemProperties;
        copy.startTimeout = startTimeout;
        copy.binary = binary;
        copy.topics.putAll(topics);
        copy.groups.putAll(groups);
        copy.keys.addAll(keys);
        return copy;
    }

    /** Takes {@code name} or {@code name:queues}. */
    void topic(String text) {
        number(topics, text, DEFAULT_QUEUES);
    }

    /** Takes {@code name} or {@code name:retries}. */
    void group(String text) {
        number(groups, text, DEFAULT_RETRIES);
    }

    private static void number(Map<String, Integer> numbers, String text, int otherwise) {
        int colon = text.lastIndexOf(':');
        if (colon < 0) {
            numbers.put(text, otherwise);
            return;
        }
        numbers.put(text.substring(0, colon), Integer.valueOf(text.substring(colon + 1)));
    }

    /** The command line without what names files and ports. */
    List<String> flags() {
        List<String> flags = new ArrayList<>(List.of("--memory", "--test-api"));
        if (virtualClock) {
            flags.add("--virtual-clock");
        }
        keys.forEach(key -> flags.addAll(List.of("--set", key)));
        return flags;
    }
}
