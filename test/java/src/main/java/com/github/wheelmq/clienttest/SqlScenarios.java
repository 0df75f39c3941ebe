package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/** Subscriptions by SQL92 expressions over the properties of messages. */
final class SqlScenarios {
    private static final int SUBSCRIPTION_PARSE_FAILED = 23;

    private SqlScenarios() {}

    /** The queue is read from its beginning. */
    static void stored(Lab lab) throws Exception {
        play(lab, "a BETWEEN 2 AND 5 AND (b IN ('x', 'y') OR c IS NOT NULL)", true);
    }

    /** Messages arrive while a pull waits for them in the broker. */
    static void arriving(Lab lab) throws Exception {
        play(lab, "a > 1 AND a < 6 AND (b <> 'z' OR c = 'set')", false);
    }

    /** Tags are a property like others; delayed messages keep theirs. */
    static void tagsAndDelay(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        Inbox inbox = consume(lab, topic, "TAGS IN ('a', 'b') AND n > 1");
        DefaultMQProducer producer = lab.producer();
        for (String tag : List.of("a", "b", "c")) {
            for (int n = 1; n <= 2; n++) {
                Message message = Lab.message(topic, tag, tag + n);
                message.putUserProperty("n", String.valueOf(n));
                message.setDelayTimeLevel(n - 1);
                Lab.sent(producer.send(message));
            }
        }
        inbox.awaitExactly(List.of("a2", "b2"));
    }

    /** A consumer with a broken expression is told so when it starts. */
    static void broken(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        for (String expression : List.of("a >", "a BETWEEN 5 AND 1", "a = 'open")) {
            DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
            consumer.subscribe(topic, MessageSelector.bySql(expression));
            consumer.registerMessageListener(new Inbox().listener());
            MQClientException refused = Check.fails(MQClientException.class, "start with " + expression, consumer::start);
            Check.equal(SUBSCRIPTION_PARSE_FAILED, refused.getResponseCode(), "answer to " + expression);
        }
    }

    private static void play(Lab lab, String expression, boolean before) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer();
        Inbox inbox = before ? null : consume(lab, topic, expression);
        List<String> wanted = new ArrayList<>();
        for (int a = 0; a < 8; a++) {
            for (String b : List.of("x", "z")) {
                for (String c : List.of("", "set")) {
                    String body = a + b + c;
                    send(producer, topic, body, Map.of("a", String.valueOf(a), "b", b, "c", c));
                    if (a >= 2 && a <= 5 && (b.equals("x") || c.equals("set"))) {
                        wanted.add(body);
                    }
                }
            }
        }
        if (before) {
            inbox = consume(lab, topic, expression);
        }
        inbox.awaitExactly(wanted);
    }

    private static void send(DefaultMQProducer producer, String topic, String body, Map<String, String> properties) throws Exception {
        Message message = Lab.message(topic, "T", body);
        properties.forEach((name, value) -> {
            if (!value.isEmpty()) {
                message.putUserProperty(name, value);
            }
        });
        Lab.sent(producer.send(message));
    }

    private static Inbox consume(Lab lab, String topic, String expression) throws Exception {
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, MessageSelector.bySql(expression));
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        return inbox;
    }
}
