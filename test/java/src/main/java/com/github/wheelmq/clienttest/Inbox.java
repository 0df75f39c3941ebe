package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.message.MessageExt;

/** The messages that consumers were given, in order of arrival. */
final class Inbox {
    /** A message and when the listener got it, in milliseconds since the epoch. */
    static final class Arrival {
        final MessageExt message;
        final long millis;

        Arrival(MessageExt message, long millis) {
            this.message = message;
            this.millis = millis;
        }

        String body() {
            return Lab.text(message);
        }
    }

    private final List<Arrival> arrivals = new ArrayList<>();

    synchronized void add(MessageExt message) {
        arrivals.add(new Arrival(message, System.currentTimeMillis()));
        notifyAll();
    }

    /** A listener that keeps everything and acknowledges it. */
    MessageListenerConcurrently listener() {
        return (messages, context) -> {
            messages.forEach(this::add);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        };
    }

    synchronized List<Arrival> all() {
        return new ArrayList<>(arrivals);
    }

    synchronized int size() {
        return arrivals.size();
    }

    List<String> bodies() {
        return all().stream().map(Arrival::body).collect(Collectors.toList());
    }

    /** Waits until the arrivals satisfy the predicate. */
    synchronized void await(String what, Predicate<List<Arrival>> enough) throws InterruptedException {
        long deadline = System.currentTimeMillis() + Lab.PATIENCE_MILLIS;
        while (!enough.test(arrivals)) {
            long left = deadline - System.currentTimeMillis();
            Check.that(left > 0, "waited %d ms for %s; got %d: %s", Lab.PATIENCE_MILLIS, what, arrivals.size(), brief());
            wait(left);
        }
    }

    /** Waits until every wanted body has arrived at least once. */
    void awaitBodies(Collection<String> want) throws InterruptedException {
        Set<String> missing = new HashSet<>(want);
        int[] seen = {0};
        await("all of " + want.size() + " bodies", list -> {
            for (; seen[0] < list.size(); seen[0]++) {
                missing.remove(list.get(seen[0]).body());
            }
            return missing.isEmpty();
        });
    }

    /** Waits for the wanted bodies and states that they came once each and nothing else came. */
    void awaitExactly(Collection<String> want) throws InterruptedException {
        awaitBodies(want);
        exactly(want);
    }

    /** States that the arrivals so far are the wanted bodies, once each. */
    void exactly(Collection<String> want) {
        Map<String, Integer> counts = counts(Arrival::body);
        Set<String> wanted = new HashSet<>(want);
        counts.forEach((body, n) -> {
            Check.that(wanted.contains(body), "got a message that nobody should get: %s", cut(body));
            Check.that(n == 1, "message %s came %d times", cut(body), n);
        });
        Check.equal(wanted.size(), counts.size(), "number of different messages");
    }

    <K> Map<K, Integer> counts(Function<Arrival, K> key) {
        Map<K, Integer> counts = new HashMap<>();
        all().forEach(a -> counts.merge(key.apply(a), 1, Integer::sum));
        return counts;
    }

    private String brief() {
        return arrivals.stream().limit(20).map(a -> cut(a.body())).collect(Collectors.joining(", "));
    }

    private static String cut(String body) {
        return body.length() <= 40 ? body : body.substring(0, 40) + "...";
    }
}
