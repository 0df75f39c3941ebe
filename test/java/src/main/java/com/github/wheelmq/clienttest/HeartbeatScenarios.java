package com.github.wheelmq.clienttest;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** Heartbeats of the second version, which leave the subscriptions out while they have not changed. */
final class HeartbeatScenarios {
    private HeartbeatScenarios() {}

    /** Subscriptions that change while the consumer runs reach the broker; those that do not stay known. */
    static void changingSubscriptions(Lab lab) throws Exception {
        String first = lab.topic("T1", 1);
        String second = lab.topic("T2", 1);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(group);
        consumer.setUseHeartbeatV2(true);
        consumer.setHeartbeatBrokerInterval(300);
        consumer.subscribe(first, "a");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        DefaultMQProducer producer = lab.producer();
        Lab.sent(producer.send(Lab.message(first, "b", "not wanted")));
        Lab.sent(producer.send(Lab.message(first, "a", "first")));
        inbox.awaitExactly(List.of("first"));

        consumer.subscribe(second, "*");
        Lab.sent(producer.send(Lab.message(second, "T", "second")));
        inbox.awaitExactly(List.of("first", "second"));
        awaitKnown(lab, group, Set.of(first, second, "%RETRY%" + group));

        consumer.unsubscribe(first);
        awaitKnown(lab, group, Set.of(second, "%RETRY%" + group));
        Lab.sent(producer.send(Lab.message(second, "T", "third")));
        inbox.awaitExactly(List.of("first", "second", "third"));
    }

    private static void awaitKnown(Lab lab, String group, Set<String> topics) throws Exception {
        Lab.await("the broker knows the topics " + topics, () -> {
            try {
                return topics.equals(new HashSet<>(lab.admin().examineConsumerConnectionInfo(group).getSubscriptionTable().keySet()));
            } catch (Exception e) {
                throw new IllegalStateException("connections of " + group, e);
            }
        });
    }
}
