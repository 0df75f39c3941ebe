package com.github.wheelmq.clienttest;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** What clients record about messages, themselves messages of a topic, found by the id of what they are about. */
final class TraceScenarios {
    private static final String TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC";
    private static final String BETWEEN_RECORDS = "\u0002";
    private static final String BETWEEN_FIELDS = "\u0001";

    private TraceScenarios() {}

    /** One message sent and consumed: its send, and the beginning and the end of its consumption. */
    static void sentAndConsumed(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.tracedProducer();
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.tracedPushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        Message message = Lab.message(topic, "Traced", "follow me");
        message.setKeys("trace-key");
        long begin = System.currentTimeMillis();
        SendResult sent = Lab.sent(producer.send(message));
        inbox.await("the message", list -> list.size() == 1);
        Set<String> want = Set.of("Pub", "SubBefore", "SubAfter");
        Lab.await("the records of " + sent.getMsgId(), () -> kinds(lab, sent.getMsgId(), begin).equals(want));
        Lab.await("the records by the message's key", () -> kinds(lab, "trace-key", begin).containsAll(want));
    }

    /** The kinds of the records that are found by a key: the id of a message, or a key of its own. */
    private static Set<String> kinds(Lab lab, String key, long begin) {
        Set<String> kinds = new TreeSet<>();
        for (MessageExt found : query(lab, key, begin)) {
            for (String record : Lab.text(found).split(BETWEEN_RECORDS)) {
                List<String> fields = List.of(record.split(BETWEEN_FIELDS));
                if (fields.contains(key)) {
                    kinds.add(fields.get(0));
                }
            }
        }
        return kinds;
    }

    private static List<MessageExt> query(Lab lab, String key, long begin) {
        try {
            return lab.admin().queryMessage(TRACE_TOPIC, key, 64, begin - 60_000, begin + 600_000).getMessageList();
        } catch (MQClientException notYet) {
            return List.of();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
