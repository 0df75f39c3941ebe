package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;

/** Consumption in order while members of the group come and go. */
final class OrderScenarios {
    private static final int QUEUES = 4;

    private OrderScenarios() {}

    /**
     * One member, two, one again, with a stream of messages all the while: no queue is read by two
     * members at once, and what each queue delivers is its messages in order, none left out. What was
     * read but not committed when a queue changed hands may come again.
     */
    static void overRebalance(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        Log log = new Log();
        AtomicBoolean sending = new AtomicBoolean(true);
        DefaultMQProducer producer = lab.producer();
        List<Integer> sent = new ArrayList<>();
        Thread sender = new Thread(() -> stream(producer, topic, sending, sent));

        DefaultMQPushConsumer stays = member(lab, group, topic, "stays", log);
        new Ownership(stays, topic).awaitCount(QUEUES);
        sender.start();
        DefaultMQPushConsumer guest = member(lab, group, topic, "guest", log);
        new Ownership(guest, topic).awaitCount(QUEUES / 2);
        log.awaitFrom("guest");
        guest.shutdown();
        new Ownership(stays, topic).awaitCount(QUEUES);
        sending.set(false);
        sender.join();
        for (int queue = 0; queue < QUEUES; queue++) {
            int id = queue;
            Lab.await("all of queue " + queue, () -> log.next(id) == sent.get(id));
        }
        Check.equal(Set.of(), log.faults, "faults");
        lab.note("%d messages, %d of them twice", sent.stream().mapToInt(n -> n).sum(), log.repeated.get());
    }

    private static void stream(DefaultMQProducer producer, String topic, AtomicBoolean sending, List<Integer> sent) {
        for (int i = 0; i < QUEUES; i++) {
            sent.add(0);
        }
        try {
            for (int i = 0; sending.get(); i++) {
                SendResult result = Lab.sent(producer.send(Lab.message(topic, "T", String.valueOf(i)),
                    (queues, m, arg) -> queues.get((Integer) arg % queues.size()), i));
                sent.set(result.getMessageQueue().getQueueId(), (int) result.getQueueOffset() + 1);
                Thread.sleep(2);
            }
        } catch (Exception e) {
            throw new IllegalStateException("send", e);
        }
    }

    private static DefaultMQPushConsumer member(Lab lab, String group, String topic, String name, Log log) throws Exception {
        DefaultMQPushConsumer consumer = lab.pushConsumer(group);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            int queue = messages.get(0).getQueueId();
            log.enter(queue, name);
            messages.forEach(m -> log.read(queue, m.getQueueOffset(), name));
            log.leave(queue, name);
            return ConsumeOrderlyStatus.SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    /** Who read what, and what must not be. */
    private static final class Log {
        private final Map<Integer, Long> next = new TreeMap<>();
        private final Map<Integer, String> inside = new TreeMap<>();
        private final Set<String> readers = ConcurrentHashMap.newKeySet();
        final Set<String> faults = ConcurrentHashMap.newKeySet();
        final AtomicInteger repeated = new AtomicInteger();

        synchronized void enter(int queue, String member) {
            String other = inside.put(queue, member);
            if (other != null) {
                faults.add("queue " + queue + " is read by " + member + " and " + other);
            }
        }

        synchronized void leave(int queue, String member) {
            inside.remove(queue, member);
        }

        synchronized void read(int queue, long offset, String member) {
            long want = next.getOrDefault(queue, 0L);
            if (offset > want) {
                faults.add("queue " + queue + " goes on at " + offset + ", want " + want);
            } else if (offset < want) {
                repeated.incrementAndGet();
            }
            next.put(queue, Math.max(want, offset + 1));
            readers.add(member);
        }

        synchronized long next(int queue) {
            return next.getOrDefault(queue, 0L);
        }

        void awaitFrom(String member) throws InterruptedException {
            Lab.await("messages to " + member, () -> readers.contains(member));
        }
    }
}
