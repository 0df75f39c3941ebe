package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Subscriptions by tag. Every topic has one queue, so that the last wanted message shows that the
 * unwanted ones before it have been passed over.
 */
final class FilterScenarios {
    private FilterScenarios() {}

    static void twoTags(Lab lab) throws Exception {
        play(lab, "a || b", List.of("a", "b"), List.of("c", "A", "ab", ""));
    }

    static void oneTag(Lab lab) throws Exception {
        play(lab, "TagA", List.of("TagA"), List.of("TagB", "", "TagAA"));
    }

    static void everything(Lab lab) throws Exception {
        play(lab, "*", List.of("x", "", "y", "*"), List.of());
    }

    /** "Aa" and "BB" have the same hash, which is all that the broker's index knows of a tag. */
    static void sameHash(Lab lab) throws Exception {
        Check.equal("Aa".hashCode(), "BB".hashCode(), "hash of the two tags");
        play(lab, "Aa", List.of("Aa"), List.of("BB", "C"));
    }

    static void beyondAscii(Lab lab) throws Exception {
        play(lab, "\u8ba2\u5355 || caf\u00e9 || \ud83d\ude80", List.of("\u8ba2\u5355", "caf\u00e9", "\ud83d\ude80"),
            List.of("\u8ba2", "cafe", "\ud83d\ude81"));
    }

    private static void play(Lab lab, String expression, List<String> wantedTags, List<String> otherTags) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer();
        List<String> wanted = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            for (String tag : otherTags) {
                send(producer, topic, tag, "other-" + tag + round);
            }
            for (String tag : wantedTags) {
                send(producer, topic, tag, "wanted-" + tag + round);
                wanted.add("wanted-" + tag + round);
            }
        }
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, expression);
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        inbox.awaitExactly(wanted);
    }

    private static void send(DefaultMQProducer producer, String topic, String tag, String body) throws Exception {
        Message message = Lab.message(topic, null, body);
        if (!tag.isEmpty()) {
            message.setTags(tag);
        }
        Lab.sent(producer.send(message));
    }
}
