package com.github.wheelmq.clienttest;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Messages that the application refuses: retried after a delay, then kept as dead letters. */
final class RetryScenarios {
    private static final int LEVEL_ONE_MILLIS = 1_000;

    private RetryScenarios() {}

    /** Refused three times with two retries allowed: attempts 0, 1, 2, then %DLQ%group. */
    static void deadLetter(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        startRefusing(lab, topic, group, inbox, Integer.MAX_VALUE);

        DefaultMQProducer producer = lab.producer();
        Message message = Lab.message(topic, "RetryTag", "refused \u2713");
        message.setKeys("retry-key");
        message.putUserProperty("color", "blue");
        String msgId = Lab.sent(producer.send(message)).getMsgId();
        Lab.sent(producer.send(Lab.message(topic, "RetryTag", "accepted")));

        DefaultMQPullConsumer dead = lab.pullConsumer(lab.name("D"));
        MessageExt letter = awaitFirst(lab, dead, "%DLQ%" + group);
        Check.equal(List.of(0, 1, 2), attempts(inbox, "refused \u2713"), "reconsumeTimes of the attempts");
        Check.equal(List.of(0), attempts(inbox, "accepted"), "reconsumeTimes of the accepted message");
        neverEarly(inbox, "refused \u2713");

        Check.equal("refused \u2713", Lab.text(letter), "body of the dead letter");
        Check.equal("RetryTag", letter.getTags(), "tag of the dead letter");
        Check.equal("retry-key", letter.getKeys(), "key of the dead letter");
        Check.equal("blue", letter.getUserProperty("color"), "user property of the dead letter");
        Check.equal(topic, letter.getProperty(MessageConst.PROPERTY_RETRY_TOPIC), "topic that the dead letter was sent to");
        Check.equal(msgId, letter.getMsgId(), "id of the dead letter");
        Check.that(letter.getProperty(MessageConst.PROPERTY_ORIGIN_MESSAGE_ID) != null, "no id of the original in the dead letter");
        Check.equal(3, letter.getReconsumeTimes(), "reconsumeTimes of the dead letter");
    }

    /** Refused once: the copy comes back after the delay with the same id, topic, key and properties. */
    static void reconsumeLater(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        Inbox inbox = new Inbox();
        startRefusing(lab, topic, lab.name("G"), inbox, 1);
        DefaultMQProducer producer = lab.producer();
        for (int i = 0; i < 5; i++) {
            Message message = Lab.message(topic, "T", "later-" + i);
            message.setKeys("k" + i);
            Lab.sent(producer.send(message));
        }
        inbox.await("two attempts on each of 5 messages", list -> list.size() >= 10);
        for (int i = 0; i < 5; i++) {
            String body = "later-" + i;
            Check.equal(List.of(0, 1), attempts(inbox, body), "reconsumeTimes of " + body);
            neverEarly(inbox, body);
            List<MessageExt> copies = inbox.all().stream().map(a -> a.message).filter(m -> Lab.text(m).equals(body))
                .collect(Collectors.toList());
            Check.equal(copies.get(0).getMsgId(), copies.get(1).getMsgId(), "id of " + body);
            Check.equal(topic, copies.get(1).getTopic(), "topic shown to the listener for the retry of " + body);
            Check.equal("k" + i, copies.get(1).getKeys(), "key of the retry of " + body);
        }
    }

    /** Starts a consumer that refuses every message but "accepted" a number of times. */
    private static void startRefusing(Lab lab, String topic, String group, Inbox inbox, int refusals) throws Exception {
        DefaultMQPushConsumer consumer = lab.pushConsumer(group);
        // The group's retry topic may not have a route at the very first query; the client's default
        // would ask again after 30 s.
        consumer.setPollNameServerInterval(1_000);
        consumer.setMaxReconsumeTimes(2);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(inbox::add);
            MessageExt first = messages.get(0);
            if (Lab.text(first).equals("accepted") || first.getReconsumeTimes() >= refusals) {
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            }
            context.setDelayLevelWhenNextConsume(1);
            return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        });
        consumer.start();
    }

    private static List<Integer> attempts(Inbox inbox, String body) {
        return inbox.all().stream().filter(a -> a.body().equals(body)).map(a -> a.message.getReconsumeTimes())
            .collect(Collectors.toList());
    }

    private static void neverEarly(Inbox inbox, String body) {
        long before = 0;
        for (Inbox.Arrival a : inbox.all()) {
            if (!a.body().equals(body)) {
                continue;
            }
            Check.that(before == 0 || a.millis >= before + LEVEL_ONE_MILLIS, "attempt %d on %s came %d ms after the one before",
                a.message.getReconsumeTimes(), body, a.millis - before);
            before = a.millis;
        }
    }

    @SuppressWarnings("deprecation")
    private static MessageExt awaitFirst(Lab lab, DefaultMQPullConsumer consumer, String topic) throws Exception {
        Lab.await("route of " + topic, () -> lab.routedQueues(topic) == 1);
        MessageQueue queue = consumer.fetchSubscribeMessageQueues(topic).iterator().next();
        PullResult[] result = new PullResult[1];
        Lab.await("a message in " + topic, () -> {
            try {
                result[0] = consumer.pull(queue, "*", 0, 32);
                return result[0].getPullStatus() == PullStatus.FOUND;
            } catch (Exception e) {
                throw new IllegalStateException("pull from " + topic, e);
            }
        });
        Check.equal(1, result[0].getMsgFoundList().size(), "messages in " + topic);
        return result[0].getMsgFoundList().get(0);
    }
}
