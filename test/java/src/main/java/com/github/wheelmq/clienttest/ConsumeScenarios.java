package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Ways to receive: push (concurrent, in order, to everybody) and pull. */
final class ConsumeScenarios {
    private ConsumeScenarios() {}

    static void concurrent(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        DefaultMQProducer producer = lab.producer();
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        List<String> bodies = new ArrayList<>();
        // Half of them wait for the consumer, half arrive while it pulls.
        for (int i = 0; i < 200; i++) {
            if (i == 100) {
                consumer.start();
            }
            Message message = Lab.message(topic, "T" + i % 3, "concurrent-" + i);
            message.setKeys("k" + i);
            message.putUserProperty("n", String.valueOf(i));
            Lab.sent(producer.send(message));
            bodies.add("concurrent-" + i);
        }
        inbox.awaitExactly(bodies);
        for (Inbox.Arrival a : inbox.all()) {
            String n = a.message.getUserProperty("n");
            Check.equal("concurrent-" + n, a.body(), "body of message " + n);
            Check.equal("k" + n, a.message.getKeys(), "key of message " + n);
            Check.equal("T" + Integer.parseInt(n) % 3, a.message.getTags(), "tag of message " + n);
            Check.equal(0, a.message.getReconsumeTimes(), "reconsume times of message " + n);
        }
    }

    static void orderly(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        DefaultMQProducer producer = lab.producer();
        int orders = 8;
        int steps = 25;
        for (int step = 0; step < steps; step++) {
            for (int order = 0; order < orders; order++) {
                Message message = Lab.message(topic, "T", order + ":" + step);
                Lab.sent(producer.send(message, (queues, m, arg) -> queues.get((Integer) arg % queues.size()), order));
            }
        }
        Inbox inbox = new Inbox();
        Map<Integer, AtomicInteger> running = new ConcurrentHashMap<>();
        Set<String> overlaps = ConcurrentHashMap.newKeySet();
        AtomicInteger suspended = new AtomicInteger();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.setSuspendCurrentQueueTimeMillis(100);
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            int queue = context.getMessageQueue().getQueueId();
            AtomicInteger inside = running.computeIfAbsent(queue, k -> new AtomicInteger());
            if (inside.incrementAndGet() != 1) {
                overlaps.add("queue " + queue);
            }
            try {
                // One refusal in the middle: the queue waits and the same message comes again.
                if (Lab.text(messages.get(0)).equals("3:10") && suspended.getAndIncrement() < 2) {
                    return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
                }
                messages.forEach(inbox::add);
                return ConsumeOrderlyStatus.SUCCESS;
            } finally {
                inside.decrementAndGet();
            }
        });
        consumer.start();
        inbox.await("all ordered messages", list -> list.size() >= orders * steps);
        Check.equal(Set.of(), overlaps, "queues consumed by two threads at once");
        Check.equal(3, suspended.get(), "attempts on the refused message");
        Map<String, Integer> next = new TreeMap<>();
        for (String body : inbox.bodies()) {
            String[] parts = body.split(":");
            int want = next.merge(parts[0], 1, Integer::sum) - 1;
            Check.equal(want, Integer.parseInt(parts[1]), "step of order " + parts[0]);
        }
    }

    static void broadcast(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        String group = lab.name("G");
        List<Inbox> inboxes = List.of(new Inbox(), new Inbox());
        List<Ownership> owned = new ArrayList<>();
        for (Inbox inbox : inboxes) {
            DefaultMQPushConsumer consumer = lab.pushConsumer(group);
            Lab.broadcasting(consumer);
            consumer.subscribe(topic, "*");
            consumer.registerMessageListener(inbox.listener());
            consumer.start();
            owned.add(new Ownership(consumer, topic));
        }
        for (Ownership member : owned) {
            member.awaitCount(2);
        }
        DefaultMQProducer producer = lab.producer();
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Lab.sent(producer.send(Lab.message(topic, "T", "broadcast-" + i)));
            bodies.add("broadcast-" + i);
        }
        for (Inbox inbox : inboxes) {
            inbox.awaitExactly(bodies);
        }
    }

    /** Pulls with request 11 and keeps its own offsets, down to each of the four pull results. */
    @SuppressWarnings("deprecation")
    static void pull(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        DefaultMQProducer producer = lab.producer();
        Map<Integer, Integer> perQueue = new HashMap<>();
        for (int i = 0; i < 70; i++) {
            SendResult r = Lab.sent(producer.send(Lab.message(topic, i == 69 ? "Last" : "T", "pull-" + i)));
            perQueue.merge(r.getMessageQueue().getQueueId(), 1, Integer::sum);
        }
        lab.awaitStored(topic, 70);
        DefaultMQPullConsumer consumer = lab.pullConsumer(lab.name("G"));
        Set<MessageQueue> queues = consumer.fetchSubscribeMessageQueues(topic);
        Check.equal(2, queues.size(), "queues of the topic");
        Set<String> got = new HashSet<>();
        for (MessageQueue queue : queues) {
            int count = perQueue.get(queue.getQueueId());
            Check.equal(0L, consumer.minOffset(queue), "min offset of " + queue);
            Check.equal((long) count, consumer.maxOffset(queue), "max offset of " + queue);
            Check.equal(0L, consumer.fetchConsumeOffset(queue, true), "offset of a new group in a young queue");
            long offset = 0;
            PullResult result;
            while ((result = consumer.pull(queue, "*", offset, 10)).getPullStatus() == PullStatus.FOUND) {
                Check.that(result.getMsgFoundList().size() <= 10, "%d messages in a pull of 10", result.getMsgFoundList().size());
                for (MessageExt message : result.getMsgFoundList()) {
                    Check.equal(offset, message.getQueueOffset(), "offset in " + queue);
                    offset++;
                    got.add(Lab.text(message));
                }
                Check.equal(offset, result.getNextBeginOffset(), "next offset in " + queue);
            }
            Check.equal(PullStatus.NO_NEW_MSG, result.getPullStatus(), "pull at the end of " + queue);
            consumer.updateConsumeOffset(queue, offset);
            Check.equal(PullStatus.OFFSET_ILLEGAL, consumer.pull(queue, "*", 1_000_000, 10).getPullStatus(), "pull far beyond " + queue);
            Check.equal(PullStatus.NO_MATCHED_MSG, consumer.pull(queue, "NoSuchTag", 0, 10).getPullStatus(), "pull of a tag without messages");
        }
        Check.equal(70, got.size(), "different messages pulled");
        long now = System.currentTimeMillis();
        for (MessageQueue queue : queues) {
            Check.equal(0L, consumer.searchOffset(queue, now - 3_600_000), "offset by a time before all of " + queue);
            // In 5.5.0 a time after the last message finds the place after it.
            Check.equal(consumer.maxOffset(queue), consumer.searchOffset(queue, now + 3_600_000), "offset by a time after all of " + queue);
        }
    }

    /** Waits in the broker: a pull on an idle queue is answered by the message that arrives. */
    @SuppressWarnings("deprecation")
    static void pullBlocking(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer();
        DefaultMQPullConsumer consumer = lab.pullConsumer(lab.name("G"));
        MessageQueue queue = consumer.fetchSubscribeMessageQueues(topic).iterator().next();
        for (int i = 0; i < 5; i++) {
            Thread sender = new Thread(() -> {
                try {
                    Thread.sleep(50);
                    Lab.sent(producer.send(Lab.message(topic, "T", "late")));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            sender.start();
            PullResult result = consumer.pullBlockIfNotFound(queue, "*", i, 32);
            sender.join();
            Check.equal(PullStatus.FOUND, result.getPullStatus(), "suspended pull " + i);
            Check.equal(1, result.getMsgFoundList().size(), "messages of suspended pull " + i);
        }
    }
}
