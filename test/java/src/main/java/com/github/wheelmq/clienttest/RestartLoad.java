package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends by several threads and consumption by two members of a group, while the server restarts. A
 * send that fails is sent again, as an application does.
 */
final class RestartLoad {
    private static final int QUEUES = 4;
    private static final int SENDERS = 3;
    private static final int PROBES = 16;

    private final Lab lab;
    private final String topic;
    private final List<Inbox> members = new ArrayList<>();
    private final List<Thread> senders = new ArrayList<>();
    private final ConcurrentLinkedQueue<String> sent = new ConcurrentLinkedQueue<>();
    private final AtomicInteger retried = new AtomicInteger();
    private final AtomicLong longest = new AtomicLong();
    private int probes;
    private volatile boolean over;

    private RestartLoad(Lab lab) throws Exception {
        this.lab = lab;
        this.topic = lab.topic("L", QUEUES);
    }

    /** Returns when both members consume what is sent. */
    static RestartLoad start(Lab lab) throws Exception {
        RestartLoad load = new RestartLoad(lab);
        String group = lab.name("LG");
        for (int i = 0; i < 2; i++) {
            Inbox inbox = new Inbox();
            DefaultMQPushConsumer consumer = lab.pushConsumer(group);
            consumer.subscribe(load.topic, "*");
            consumer.registerMessageListener(inbox.listener());
            consumer.start();
            load.members.add(inbox);
        }
        load.divide();
        for (int i = 0; i < SENDERS; i++) {
            int number = i;
            DefaultMQProducer producer = lab.producer();
            Thread sender = new Thread(() -> load.run(producer, number), load.topic + "-" + i);
            sender.start();
            load.senders.add(sender);
        }
        load.goOn();
        return load;
    }

    /** Waits until each member has queues of its own, twice in a row: before, messages may come to both. */
    private void divide() throws Exception {
        DefaultMQProducer producer = lab.producer();
        for (int inARow = 0; inARow < 2;) {
            int[] from = {members.get(0).size(), members.get(1).size()};
            for (int i = 0; i < PROBES; i++) {
                Lab.sent(producer.send(Lab.message(topic, "T", "probe-" + probes++)));
            }
            Lab.await("the probes", () -> members.get(0).size() + members.get(1).size() >= from[0] + from[1] + PROBES);
            Set<Integer> first = queues(members.get(0), from[0]);
            Set<Integer> second = queues(members.get(1), from[1]);
            boolean divided = !first.isEmpty() && first.size() == second.size();
            second.retainAll(first);
            inARow = divided && second.isEmpty() ? inARow + 1 : 0;
        }
    }

    private static Set<Integer> queues(Inbox inbox, int from) {
        Set<Integer> queues = new HashSet<>();
        List<Inbox.Arrival> all = inbox.all();
        all.subList(from, all.size()).forEach(a -> queues.add(a.message.getQueueId()));
        return queues;
    }

    /** Waits until both members have got more than they have. */
    private void goOn() throws InterruptedException {
        for (Inbox member : members) {
            int more = member.size() + 50;
            Lab.await("the members go on", () -> member.size() > more);
        }
    }

    private void run(DefaultMQProducer producer, int number) {
        for (int n = 0; !over; n++) {
            Message message = Lab.message(topic, "T", "load-" + number + "-" + n);
            if (n % 3 == 0) {
                message.setDelayTimeLevel(1 + n % 2);
            }
            long begin = System.nanoTime();
            while (!sendOnce(producer, message)) {
                retried.incrementAndGet();
                pause(20);
            }
            longest.accumulateAndGet((System.nanoTime() - begin) / 1_000_000, Math::max);
            sent.add(Lab.text(message));
            pause(2);
        }
    }

    private static boolean sendOnce(DefaultMQProducer producer, Message message) {
        try {
            Lab.sent(producer.send(message));
            return true;
        } catch (Exception restarting) {
            return false;
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends the load and states that everything was stored and consumed: once where the server promises
     * that a send without an answer has stored nothing, and that members keep their queues.
     */
    void finish() throws Exception {
        goOn();
        over = true;
        for (Thread sender : senders) {
            sender.join();
        }
        Inbox both = new Inbox();
        Set<String> want = new HashSet<>(sent);
        Lab.await("all of " + want.size() + " messages", () -> bodies().size() >= want.size());
        members.forEach(m -> m.all().stream().filter(a -> !a.body().startsWith("probe-")).forEach(a -> both.add(a.message)));
        lab.note("%d messages over the restart, %d sends failed and were sent again, the longest took %d ms",
            want.size(), retried.get(), longest.get());
        if (Boolean.getBoolean("wheelmq.onceOverRestart")) {
            lab.awaitStored(topic, probes + want.size());
            both.exactly(want);
        }
    }

    private Set<String> bodies() {
        Set<String> bodies = new HashSet<>();
        members.forEach(m -> bodies.addAll(m.bodies()));
        bodies.removeIf(body -> body.startsWith("probe-"));
        return bodies;
    }
}
