package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Any-time delays and recalls. The limit is three days. */
final class TimerScenarios {
    private static final long DAY_SECONDS = 86_400;
    private static final int MESSAGE_ILLEGAL = 13;
    private static final int ILLEGAL_OPERATION = 604;

    private TimerScenarios() {}

    /** From a millisecond to some seconds, by all three setters: nothing is early, lost or doubled. */
    static void delivery(Lab lab) throws Exception {
        String topic = lab.topic("T", 4);
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "Timer");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();

        DefaultMQProducer producer = lab.producer();
        Map<String, DelayScenarios.Pending> pending = new HashMap<>();
        for (long millis : new long[] {1, 10, 700, 1_000, 1_001, 2_500, 6_000}) {
            pending.putAll(send(producer, topic, "ms", millis, m -> m.setDelayTimeMs(millis)));
            pending.putAll(send(producer, topic, "at", millis, m -> m.setDeliverTimeMs(System.currentTimeMillis() + millis)));
        }
        for (long seconds : new long[] {1, 3}) {
            pending.putAll(send(producer, topic, "sec", seconds * 1_000, m -> m.setDelayTimeSec(seconds)));
        }
        pending.putAll(send(producer, topic, "past", 0, m -> m.setDeliverTimeMs(1)));
        inbox.awaitExactly(pending.keySet());
        DelayScenarios.punctual(lab, inbox, pending);
        for (Inbox.Arrival a : inbox.all()) {
            Check.equal(topic, a.message.getTopic(), "topic of " + a.body());
            Check.equal("key " + a.body(), a.message.getKeys(), "key of " + a.body());
        }
    }

    /** Three days are taken, a second more is refused, whichever way it is said. */
    static void limits(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer();
        for (Setting setting : List.<Setting>of(m -> m.setDelayTimeSec(3 * DAY_SECONDS), m -> m.setDelayTimeMs(3 * DAY_SECONDS * 1_000),
            m -> m.setDeliverTimeMs(System.currentTimeMillis() + 3 * DAY_SECONDS * 1_000 - 60_000))) {
            SendResult result = Lab.sent(producer.send(set(Lab.message(topic, "Timer", "later"), setting)));
            Check.that(result.getRecallHandle() != null, "a message that waits has no recall handle");
        }
        for (Setting setting : List.<Setting>of(m -> m.setDelayTimeSec(3 * DAY_SECONDS + 1), m -> m.setDelayTimeMs(3 * DAY_SECONDS * 1_000 + 1),
            m -> m.setDeliverTimeMs(Long.MAX_VALUE))) {
            MQBrokerException e = Check.fails(MQBrokerException.class, "a delay of more than three days",
                () -> producer.send(set(Lab.message(topic, "Timer", "never"), setting)));
            Check.equal(MESSAGE_ILLEGAL, e.getResponseCode(), "code of a delay of more than three days");
        }
        lab.awaitStored(topic, 0);
    }

    /** What is recalled in time does not come; what is recalled wrongly comes. */
    static void recall(Lab lab) throws Exception {
        Lab.withLead(5_000, lead -> recalled(lab, lead));
    }

    private static boolean recalled(Lab lab, long lead) throws Exception {
        String topic = lab.topic("T" + lead, 1);
        String other = lab.topic("O" + lead, 1);
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G" + lead));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();

        DefaultMQProducer producer = lab.producer();
        long at = System.currentTimeMillis() + lead;
        SendResult recalled = at(producer, topic, "recalled", at);
        SendResult stays = at(producer, topic, "stays", at);
        if (System.currentTimeMillis() > at - lead / 2) {
            return false;
        }
        for (int i = 0; i < 2; i++) {
            Check.equal(recalled.getMsgId(), producer.recallMessage(topic, recalled.getRecallHandle()), "the recalled message");
        }
        MQBrokerException e = Check.fails(MQBrokerException.class, "a recall from another topic",
            () -> producer.recallMessage(other, stays.getRecallHandle()));
        Check.equal(ILLEGAL_OPERATION, e.getResponseCode(), "code of a recall from another topic");
        at(producer, topic, "behind", at + 2_000);
        inbox.awaitExactly(Set.of("stays", "behind"));

        e = Check.fails(MQBrokerException.class, "a recall of a delivered message",
            () -> producer.recallMessage(topic, stays.getRecallHandle()));
        Check.equal(ILLEGAL_OPERATION, e.getResponseCode(), "code of a recall of a delivered message");
        lab.awaitStored(topic, 2);
        return true;
    }

    /** A consumer fails a timer message: it comes again after its level, and not after its timer. */
    static void retried(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        List<MessageExt> tries = new ArrayList<>();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        Inbox inbox = new Inbox();
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            context.setDelayLevelWhenNextConsume(1);
            messages.forEach(inbox::add);
            boolean again = messages.get(0).getReconsumeTimes() < 1;
            return again ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        DefaultMQProducer producer = lab.producer();
        Lab.sent(producer.send(set(Lab.message(topic, "Timer", "retried"), m -> m.setDelayTimeMs(2_000))));
        inbox.await("two tries", list -> list.size() == 2);
        inbox.all().forEach(a -> tries.add(a.message));
        long waited = tries.get(1).getStoreTimestamp() - tries.get(0).getStoreTimestamp();
        Check.equal(1, tries.get(1).getReconsumeTimes(), "tries of the message");
        Check.that(waited >= 1_000, "the second try came %d ms after the first, before its level's second", waited);
        lab.note("the second try came %d ms after the first", waited);
    }

    private static SendResult at(DefaultMQProducer producer, String topic, String body, long millis) throws Exception {
        return Lab.sent(producer.send(set(Lab.message(topic, "Timer", body), m -> m.setDeliverTimeMs(millis))));
    }

    private static Map<String, DelayScenarios.Pending> send(DefaultMQProducer producer, String topic, String kind, long millis, Setting setting)
        throws Exception {
        String body = kind + "-" + millis;
        DelayScenarios.Pending p = new DelayScenarios.Pending(body, System.currentTimeMillis(), millis);
        Message message = set(Lab.message(topic, "Timer", body), setting);
        message.setKeys("key " + body);
        Lab.sent(producer.send(message));
        p.acked = System.currentTimeMillis();
        return Map.of(body, p);
    }

    private static Message set(Message message, Setting setting) {
        setting.apply(message);
        return message;
    }

    /** One of the ways to delay a message. */
    private interface Setting {
        void apply(Message message);
    }
}
