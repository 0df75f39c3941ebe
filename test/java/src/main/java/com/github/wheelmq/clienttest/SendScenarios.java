package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/** Ways to send: synchronous, asynchronous, one-way, in batches, to a chosen queue, to a new topic. */
final class SendScenarios {
    private SendScenarios() {}

    static void sync(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        DefaultMQProducer producer = lab.producer();
        Map<MessageQueue, Long> next = new HashMap<>();
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            SendResult result = Lab.sent(producer.send(Lab.message(topic, "T", "sync-" + i)));
            long want = next.merge(result.getMessageQueue(), 1L, Long::sum) - 1;
            Check.equal(want, result.getQueueOffset(), "queue offset in " + result.getMessageQueue());
            Check.that(ids.add(result.getMsgId()), "message id %s given twice", result.getMsgId());
            Check.equal(32, result.getOffsetMsgId().length(), "length of offset id " + result.getOffsetMsgId());
            Check.equal("DefaultRegion", result.getRegionId(), "region");
        }
        Check.equal(4, next.size(), "queues used by round-robin");
        lab.awaitStored(topic, 20);
    }

    static void async(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        DefaultMQProducer producer = lab.producer();
        int n = 50;
        CountDownLatch answers = new CountDownLatch(n);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < n; i++) {
            producer.send(Lab.message(topic, "T", "async-" + i), new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    answers.countDown();
                }

                @Override
                public void onException(Throwable e) {
                    failure.set(e);
                    answers.countDown();
                }
            });
        }
        Check.that(answers.await(Lab.PATIENCE_MILLIS, TimeUnit.MILLISECONDS), "%d of %d callbacks missing", answers.getCount(), n);
        Check.that(failure.get() == null, "callback got %s", failure.get());
        lab.awaitStored(topic, n);
    }

    static void oneway(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        DefaultMQProducer producer = lab.producer();
        for (int i = 0; i < 10; i++) {
            producer.sendOneway(Lab.message(topic, "T", "oneway-" + i));
        }
        lab.awaitStored(topic, 10);
    }

    static void batch(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        DefaultMQProducer producer = lab.producer();
        List<Message> batch = new ArrayList<>();
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Message message = Lab.message(topic, i % 2 == 0 ? "Even" : "Odd", "batch-" + i);
            message.setKeys("key-" + i);
            message.putUserProperty("n", String.valueOf(i));
            batch.add(message);
            bodies.add("batch-" + i);
        }
        SendResult result = Lab.sent(producer.send(batch));
        Check.equal(10, result.getMsgId().split(",").length, "client ids in " + result.getMsgId());
        Check.equal(10, result.getOffsetMsgId().split(",").length, "offset ids in " + result.getOffsetMsgId());
        lab.awaitStored(topic, 10);
        Check.equal(10L, lab.admin().maxOffset(result.getMessageQueue()), "messages in the queue of the batch");

        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        inbox.awaitExactly(bodies);
        for (Inbox.Arrival arrival : inbox.all()) {
            int n = Integer.parseInt(arrival.message.getUserProperty("n"));
            Check.equal("batch-" + n, arrival.body(), "body of inner message " + n);
            Check.equal("key-" + n, arrival.message.getKeys(), "key of inner message " + n);
            Check.equal((long) n, arrival.message.getQueueOffset(), "offset of inner message " + n);
        }
    }

    static void selector(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        DefaultMQProducer producer = lab.producer();
        Map<Integer, Set<Integer>> queuesOfOrder = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            int order = i % 10;
            SendResult result = Lab.sent(producer.send(Lab.message(topic, "T", "order-" + order),
                (queues, message, arg) -> queues.get((Integer) arg % queues.size()), order));
            queuesOfOrder.computeIfAbsent(order, k -> new HashSet<>()).add(result.getMessageQueue().getQueueId());
        }
        queuesOfOrder.forEach((order, queues) ->
            Check.equal(Set.of(order % 4), queues, "queues that order " + order + " went to"));
    }

    /** A send to a topic that does not exist makes it, as broker defaults allow. */
    static void autoCreateTopic(Lab lab) throws Exception {
        String topic = lab.name("T");
        DefaultMQProducer producer = lab.producer();
        SendResult result = Lab.sent(producer.send(Lab.message(topic, "T", "first")));
        Check.equal(0L, result.getQueueOffset(), "queue offset of the first message");
        Lab.await("route of the new topic", () -> lab.routedQueues(topic) == 4);
        Lab.sent(producer.send(Lab.message(topic, "T", "second")));
        lab.awaitStored(topic, 2);
    }
}
