package com.github.wheelmq.clienttest;

import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.common.message.MessageQueue;

/** The queues of a topic that a started consumer reads at the moment. */
final class Ownership {
    private final DefaultMQPushConsumer consumer;
    private final String topic;

    Ownership(DefaultMQPushConsumer consumer, String topic) {
        this.consumer = consumer;
        this.topic = topic;
    }

    Set<Integer> get() {
        return consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().keySet().stream()
            .filter(queue -> queue.getTopic().equals(topic)).map(MessageQueue::getQueueId).collect(Collectors.toSet());
    }

    void awaitCount(int count) throws InterruptedException {
        Lab.await("to own " + count + " queues", () -> get().size() == count);
    }
}
