package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageRequestMode;

/** Push consumers that leave it to the broker who consumes what: by pop, or queue by queue. */
final class PopScenarios {
    private static final int MESSAGES = 40;
    private static final long POP_INVISIBLE_MILLIS = 10_000;

    private PopScenarios() {}

    /** Two consumers in POP mode share the queues and consume everything once. */
    static void shared(Lab lab) throws Exception {
        consumedOnce(lab, MessageRequestMode.POP, 0);
    }

    /** Of three consumers in POP mode, each has queues of its own and those of one other. */
    static void sharedByTwo(Lab lab) throws Exception {
        consumedOnce(lab, MessageRequestMode.POP, 1);
    }

    /** Two consumers in PULL mode have the queues that the broker assigns them. */
    static void assigned(Lab lab) throws Exception {
        consumedOnce(lab, MessageRequestMode.PULL, 0);
    }

    private static void consumedOnce(Lab lab, MessageRequestMode mode, int share) throws Exception {
        Lab.withLead(POP_INVISIBLE_MILLIS, invisible -> consumedOnce(lab, mode, share, invisible));
    }

    private static boolean consumedOnce(Lab lab, MessageRequestMode mode, int share, long invisible) throws Exception {
        String topic = lab.topic("T" + invisible, 4);
        String group = lab.name("G" + invisible);
        setMode(lab, topic, group, mode, share);
        Inbox inbox = new Inbox();
        List<Inbox> each = new ArrayList<>();
        for (int i = 0; i < 2 + share; i++) {
            Inbox own = new Inbox();
            each.add(own);
            start(lab, topic, group, invisible, (messages, context) -> {
                messages.forEach(own::add);
                messages.forEach(inbox::add);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        DefaultMQProducer producer = lab.producer();
        Set<String> sent = new HashSet<>();
        // A consumer begins when it has asked for its assignment, some time after its start.
        long deadline = System.currentTimeMillis() + Lab.PATIENCE_MILLIS;
        for (int i = 0; i < MESSAGES || each.stream().anyMatch(own -> own.size() == 0); i++) {
            Check.that(System.currentTimeMillis() < deadline, "a consumer gets nothing of %d messages", i);
            sent.add("m" + i);
            Lab.sent(producer.send(Lab.message(topic, "T", "m" + i)));
            Thread.sleep(i < MESSAGES ? 0 : 50);
        }
        inbox.awaitBodies(sent);
        if (mode == MessageRequestMode.POP) {
            // Whatever was not acknowledged would come again.
            Thread.sleep(invisible + 5_000);
            if (inbox.size() > sent.size()) {
                // On a machine that stalls an acknowledgement is late.
                lab.note("%d of %d messages came again after %d ms", inbox.size() - sent.size(), sent.size(), invisible);
                return false;
            }
            inbox.exactly(sent);
        }
        for (Inbox own : each) {
            lab.note("one consumer got %d", own.size());
        }
        return true;
    }

    /** What a listener refuses comes back after the client's first delay of 10 s, as its second delivery. */
    static void refused(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        String group = lab.name("G");
        setMode(lab, topic, group, MessageRequestMode.POP, 0);
        Inbox inbox = new Inbox();
        start(lab, topic, group, POP_INVISIBLE_MILLIS, (messages, context) -> {
            messages.forEach(inbox::add);
            return messages.get(0).getReconsumeTimes() == 0
                ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        var message = Lab.message(topic, "T", "refused");
        message.setKeys("k");
        message.putUserProperty("color", "blue");
        String id = Lab.sent(lab.producer().send(message)).getMsgId();
        inbox.await("two deliveries", list -> list.size() >= 2);
        Inbox.Arrival first = inbox.all().get(0);
        Inbox.Arrival second = inbox.all().get(1);
        lab.note("came back after %d ms", second.millis - first.millis);
        Check.that(second.millis - first.millis >= POP_INVISIBLE_MILLIS, "came back after %d ms", second.millis - first.millis);
        for (Inbox.Arrival arrival : List.of(first, second)) {
            Check.equal(id, arrival.message.getMsgId(), "id");
            Check.equal(topic, arrival.message.getTopic(), "topic");
            Check.equal("k", arrival.message.getKeys(), "keys");
            Check.equal("blue", arrival.message.getUserProperty("color"), "user property");
        }
        Check.equal(1, second.message.getReconsumeTimes(), "reconsumeTimes of the second delivery");
    }

    static void setMode(Lab lab, String topic, String group, MessageRequestMode mode, int share) throws Exception {
        lab.admin().setMessageRequestMode(lab.broker, topic, group, mode, share, Lab.PATIENCE_MILLIS);
    }

    private static void start(Lab lab, String topic, String group, long invisible, MessageListenerConcurrently listener) throws Exception {
        DefaultMQPushConsumer consumer = lab.pushConsumer(group);
        consumer.setClientRebalance(false);
        consumer.setPopInvisibleTime(invisible);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(listener);
        consumer.start();
    }
}
