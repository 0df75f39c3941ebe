package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/** A clean stop and start of the server, with clients that live through it. */
final class RestartScenarios {
    private static final int QUEUES = 4;

    private RestartScenarios() {}

    static void restart(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String delayTopic = lab.topic("D", 2);
        String group = lab.name("G");
        DefaultMQProducer producer = lab.producer();

        // Consumed and committed before the restart: must not come again.
        Inbox before = new Inbox();
        DefaultMQPushConsumer first = consumer(lab, group, topic, before);
        first.start();
        before.awaitExactly(send(producer, topic, "before-", 20));
        first.shutdown();
        // Stored but not consumed: must come after it.
        List<String> want = send(producer, topic, "waiting-", 10);

        // Lives through the restart and waits for the delayed messages.
        Inbox delayed = new Inbox();
        consumer(lab, lab.name("DG"), delayTopic, delayed).start();
        Map<String, DelayScenarios.Pending> pending = new HashMap<>();
        for (int level : new int[] {2, 3, 4}) {
            for (int i = 0; i < 5; i++) {
                DelayScenarios.Pending p = DelayScenarios.send(producer, delayTopic, level, "pending-" + level + "-" + i);
                pending.put(p.body, p);
            }
        }
        lab.awaitStored(topic, 30);
        Map<MessageQueue, Long> offsets = lab.offsets(topic);

        RestartLoad load = RestartLoad.start(lab);
        Control.restartServer();

        Lab.await("a send by the producer that lived through the restart", () -> sendOne(producer, topic, "after-0", want));
        want.addAll(send(producer, topic, "after-more-", 2 * QUEUES));
        lab.awaitStored(topic, 20 + want.size());
        Map<MessageQueue, Long> now = lab.offsets(topic);
        offsets.forEach((queue, offset) ->
            Check.that(now.get(queue) > offset, "%s had %d messages before and has %d now", queue, offset, now.get(queue)));

        load.finish();

        Inbox after = new Inbox();
        consumer(lab, group, topic, after).start();
        after.awaitExactly(want);
        delayed.awaitExactly(pending.keySet());
        DelayScenarios.punctual(lab, delayed, pending);
    }

    /** A retry of a send whose answer was lost in the restart may store twice, so it gets a new body. */
    private static boolean sendOne(DefaultMQProducer producer, String topic, String body, List<String> sent) {
        try {
            Lab.sent(producer.send(Lab.message(topic, "T", body)));
            sent.add(body);
            return true;
        } catch (Exception reconnecting) {
            return false;
        }
    }

    private static DefaultMQPushConsumer consumer(Lab lab, String group, String topic, Inbox inbox) throws Exception {
        DefaultMQPushConsumer consumer = lab.pushConsumer(group);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        return consumer;
    }

    private static List<String> send(DefaultMQProducer producer, String topic, String prefix, int n) throws Exception {
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Lab.sent(producer.send(Lab.message(topic, "T", prefix + i)));
            bodies.add(prefix + i);
        }
        return bodies;
    }
}
