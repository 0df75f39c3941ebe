package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/** What an operator does to a running group: set its offsets, copy them, look into its members, hand one a message. */
final class ControlScenarios {
    private static final int QUEUES = 2;

    private ControlScenarios() {}

    /** Back to the first message, with the consumer running: everything comes once more. */
    static void resetToTheFirst(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        start(lab, topic, group, inbox);
        List<String> bodies = send(lab.producer(), topic, 10);
        inbox.awaitExactly(bodies);
        awaitCommitted(lab, topic, group, 10);
        lab.admin().resetOffsetByTimestamp(topic, group, 0, true);
        inbox.await("everything once more", list -> list.size() >= 20);
        inbox.counts(Inbox.Arrival::body).forEach((body, n) -> Check.equal(2, n, "arrivals of " + body));
        awaitCommitted(lab, topic, group, 10);
    }

    /** On to now, with the group offline: what lies behind does not come, what is sent later does. */
    static void resetToNow(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        DefaultMQProducer producer = lab.producer();
        DefaultMQPushConsumer consumer = start(lab, topic, group, inbox);
        inbox.awaitExactly(send(producer, topic, 4));
        awaitCommitted(lab, topic, group, 4);
        consumer.shutdown();
        send(producer, topic, 6);
        lab.awaitStored(topic, 10);
        lab.admin().resetOffsetByTimestamp(topic, group, -1, true);
        Inbox next = new Inbox();
        start(lab, topic, group, next);
        next.awaitExactly(send(producer, topic, 4));
    }

    /** Another group goes on where this one is. */
    static void cloned(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        String heir = lab.name("H");
        Inbox inbox = new Inbox();
        DefaultMQProducer producer = lab.producer();
        DefaultMQPushConsumer consumer = start(lab, topic, group, inbox);
        inbox.awaitExactly(send(producer, topic, 4));
        awaitCommitted(lab, topic, group, 4);
        consumer.shutdown();
        lab.admin().cloneGroupOffset(group, heir, topic, true);
        Inbox rest = new Inbox();
        start(lab, topic, heir, rest);
        rest.awaitExactly(send(producer, topic, 4));
    }

    /** The broker asks a member about itself, and hands it a message. */
    static void relayed(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        start(lab, topic, group, inbox);
        String body = send(lab.producer(), topic, 1).get(0);
        inbox.awaitExactly(List.of(body));
        awaitCommitted(lab, topic, group, 1);
        String member = lab.admin().examineConsumerConnectionInfo(group).getConnectionSet().iterator().next().getClientId();

        var running = lab.admin().getConsumerRunningInfo(group, member, true);
        Check.equal(Set.of(topic, "%RETRY%" + group), running.getSubscriptionSet().stream().map(s -> s.getTopic())
            .collect(Collectors.toSet()), "subscriptions that the member tells");
        Check.equal((long) QUEUES, running.getMqTable().keySet().stream().filter(q -> q.getTopic().equals(topic)).count(),
            "queues that the member tells");
        Check.that(running.getJstack().contains("ConsumeMessageThread"), "no threads in what the member tells");

        Map<MessageQueue, Long> progress = lab.admin().getConsumeStatus(topic, group, member).get(member);
        Check.equal(1L, progress.values().stream().mapToLong(n -> n).sum(), "messages that the member has consumed");

        String id = inbox.all().get(0).message.getMsgId();
        var consumed = lab.admin().consumeMessageDirectly(group, member, topic, id);
        Check.equal("CR_SUCCESS", consumed.getConsumeResult().name(), "result of the message handed over");
        Check.equal(List.of(body, body), inbox.bodies(), "messages that the listener got");
    }

    private static DefaultMQPushConsumer start(Lab lab, String topic, String group, Inbox inbox) throws Exception {
        DefaultMQPushConsumer consumer = lab.pushConsumer(group);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.setPersistConsumerOffsetInterval(500);
        consumer.start();
        return consumer;
    }

    private static void awaitCommitted(Lab lab, String topic, String group, long count) throws Exception {
        Set<MessageQueue> queues = lab.offsets(topic).keySet();
        Lab.await("the group's offsets to add up to " + count,
            () -> queues.stream().mapToLong(queue -> Math.max(0, lab.committed(group, queue))).sum() == count);
    }

    private static List<String> send(DefaultMQProducer producer, String topic, int n) throws Exception {
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            String body = "message-" + System.nanoTime();
            Lab.sent(producer.send(Lab.message(topic, "T", body)));
            bodies.add(body);
        }
        return bodies;
    }
}
