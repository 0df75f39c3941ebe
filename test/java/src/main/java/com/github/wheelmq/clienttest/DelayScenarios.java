package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Delay levels. Levels 1 to 4 are awaited; the others, up to two hours, must be accepted. */
final class DelayScenarios {
    static final int LEVELS = 18;
    private static final Map<Integer, Integer> AWAITED_MILLIS = Map.of(1, 1_000, 2, 5_000, 3, 10_000, 4, 30_000);
    private static final int PER_LEVEL = 20;

    private DelayScenarios() {}

    /** A message sent with a delay and what its arrival is measured against. */
    static final class Pending {
        final String body;
        final long sendStart;
        final long delay;
        long acked;

        Pending(String body, long sendStart, long delay) {
            this.body = body;
            this.sendStart = sendStart;
            this.delay = delay;
        }
    }

    static void allLevels(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "Level1 || Level2 || Level3 || Level4");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();

        DefaultMQProducer producer = lab.producer();
        Map<String, Pending> pending = new HashMap<>();
        for (int i = 0; i < PER_LEVEL; i++) {
            for (int level : AWAITED_MILLIS.keySet()) {
                Pending p = send(producer, topic, level, "delay-" + level + "-" + i);
                pending.put(p.body, p);
            }
        }
        for (int level = 5; level <= LEVELS; level++) {
            send(producer, topic, level, "accepted-" + level);
        }
        // A level beyond the last is the last, so nothing of this may arrive either.
        send(producer, topic, LEVELS + 1, "accepted-" + (LEVELS + 1));

        inbox.awaitExactly(pending.keySet());
        punctual(lab, inbox, pending);
        for (Inbox.Arrival a : inbox.all()) {
            int level = Integer.parseInt(a.body().split("-")[1]);
            Check.equal("Level" + level, a.message.getTags(), "tag of " + a.body());
            Check.equal("key " + a.body(), a.message.getKeys(), "key of " + a.body());
            Check.equal(topic, a.message.getTopic(), "topic of " + a.body());
            Check.equal(level, a.message.getDelayTimeLevel(), "level shown by " + a.body());
            Check.equal("yes", a.message.getUserProperty("mine"), "user property of " + a.body());
        }
    }

    /** Levels 0 and below mean no delay at all. */
    static void noDelay(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer();
        for (int level : new int[] {0, -1}) {
            Message message = Lab.message(topic, "T", "level" + level);
            message.setDelayTimeLevel(level);
            SendResult result = Lab.sent(producer.send(message));
            lab.awaitStored(topic, result.getQueueOffset() + 1);
            MessageExt stored = lab.admin().viewMessage(topic, result.getOffsetMsgId());
            Check.equal(topic, stored.getTopic(), "topic of the record that the send with level " + level + " made");
        }
    }

    /** A delayed message keeps the order of its level and the queue it was sent to. */
    static void queueAndOrder(Lab lab) throws Exception {
        int queues = 3;
        String topic = lab.topic("T", queues);
        DefaultMQProducer producer = lab.producer();
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Message message = Lab.message(topic, "T", (i % queues) + ":" + (i / queues));
            message.setDelayTimeLevel(1);
            Lab.sent(producer.send(message, (all, m, arg) -> all.get((Integer) arg), i % queues));
            bodies.add(Lab.text(message));
        }
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        inbox.awaitExactly(bodies);
        for (Inbox.Arrival a : inbox.all()) {
            Check.equal(a.body(), a.message.getQueueId() + ":" + a.message.getQueueOffset(), "queue and offset of a delayed message");
        }
    }

    static Pending send(DefaultMQProducer producer, String topic, int level, String body) throws Exception {
        Message message = Lab.message(topic, "Level" + level, body);
        message.setKeys("key " + body);
        message.putUserProperty("mine", "yes");
        message.setDelayTimeLevel(level);
        Pending p = new Pending(body, System.currentTimeMillis(), AWAITED_MILLIS.getOrDefault(level, 0));
        Lab.sent(producer.send(message));
        p.acked = System.currentTimeMillis();
        return p;
    }

    /**
     * States that nothing came early and notes how late things came: stored for delivery, and at the
     * listener.
     */
    static void punctual(Lab lab, Inbox inbox, Map<String, Pending> pending) {
        List<Long> stored = new ArrayList<>();
        List<Long> arrived = new ArrayList<>();
        for (Inbox.Arrival a : inbox.all()) {
            Pending p = pending.get(a.body());
            if (p == null) {
                continue;
            }
            MessageExt m = a.message;
            Check.that(a.millis >= p.sendStart + p.delay, "%s came %d ms after its send began, its delay is %d ms",
                p.body, a.millis - p.sendStart, p.delay);
            Check.that(m.getStoreTimestamp() >= p.sendStart + p.delay, "%s was stored for delivery %d ms after its send began, its delay is %d ms",
                p.body, m.getStoreTimestamp() - p.sendStart, p.delay);
            stored.add(m.getStoreTimestamp() - p.acked - p.delay);
            arrived.add(a.millis - p.acked - p.delay);
        }
        noteLateness(lab, "stored", stored);
        noteLateness(lab, "arrived", arrived);
    }

    private static void noteLateness(Lab lab, String what, List<Long> millis) {
        Collections.sort(millis);
        int n = millis.size();
        lab.note("%d delayed messages %s late by p50 %d ms, p99 %d ms, max %d ms", n, what,
            millis.get(n / 2), millis.get(n * 99 / 100), millis.get(n - 1));
    }
}
