package com.github.wheelmq.clienttest;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;

/**
 * Where a group without offsets starts. The client asks its {@code consumeFromWhere} only when the
 * broker does not know better: for a young queue that lies in memory the broker answers 0, so there
 * every policy sees everything; for a queue without messages it has no answer.
 */
final class StartScenarios {
    private static final DateTimeFormatter CONSUME_TIMESTAMP =
        DateTimeFormatter.ofPattern("yyyyMMddHHmmss").withZone(ZoneId.systemDefault());
    private static final int QUEUES = 2;

    private StartScenarios() {}

    static void first(Lab lab) throws Exception {
        play(lab, ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    }

    static void last(Lab lab) throws Exception {
        play(lab, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
    }

    static void timestamp(Lab lab) throws Exception {
        play(lab, ConsumeFromWhere.CONSUME_FROM_TIMESTAMP);
    }

    private static void play(Lab lab, ConsumeFromWhere policy) throws Exception {
        DefaultMQProducer producer = lab.producer();
        String young = lab.topic("Young", QUEUES);
        List<String> want = send(producer, young, "old-");
        Inbox inbox = start(lab, young, policy);
        want.addAll(send(producer, young, "new-"));
        inbox.awaitExactly(want);

        String empty = lab.topic("Empty", QUEUES);
        inbox = start(lab, empty, policy);
        inbox.awaitExactly(send(producer, empty, "first-"));
    }

    /** Starts a new group and returns when each of its queues has a starting offset. */
    private static Inbox start(Lab lab, String topic, ConsumeFromWhere policy) throws Exception {
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G_" + topic));
        consumer.setConsumeFromWhere(policy);
        consumer.setConsumeTimestamp(CONSUME_TIMESTAMP.format(Instant.now()));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        new Ownership(consumer, topic).awaitCount(QUEUES);
        return inbox;
    }

    private static List<String> send(DefaultMQProducer producer, String topic, String prefix) throws Exception {
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Lab.sent(producer.send(Lab.message(topic, "T", prefix + i)));
            bodies.add(prefix + i);
        }
        return bodies;
    }
}
