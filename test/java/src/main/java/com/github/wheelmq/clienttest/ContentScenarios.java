package com.github.wheelmq.clienttest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** What a message may hold, and finding one by its id. */
final class ContentScenarios {
    private static final int FOUR_MIB = 4 << 20;
    private static final int MESSAGE_ILLEGAL = 13;
    private static final int NO_MESSAGE = 208;

    private ContentScenarios() {}

    /** The largest body that is accepted, and one byte more. */
    static void bodySize(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer(p -> {
            p.setMaxMessageSize(2 * FOUR_MIB);
            p.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        });
        byte[] body = new byte[FOUR_MIB];
        new Random(1).nextBytes(body);
        Lab.sent(producer.send(new Message(topic, "T", body)));

        byte[] larger = Arrays.copyOf(body, FOUR_MIB + 1);
        MQBrokerException refused = Check.fails(MQBrokerException.class, "send of 4 MiB and one byte",
            () -> producer.send(new Message(topic, "T", larger)));
        Check.equal(MESSAGE_ILLEGAL, refused.getResponseCode(), "answer to a body of 4 MiB and one byte");
        lab.awaitStored(topic, 1);

        MessageExt got = receiveOne(lab, topic);
        Check.that(Arrays.equals(body, got.getBody()), "the 4 MiB body came back changed");
    }

    /** The client compresses bodies above 4 KiB by itself; the broker must not touch them. */
    static void compressed(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        byte[] body = "all work and no play ".repeat(5_000).getBytes(StandardCharsets.UTF_8);
        SendResult result = Lab.sent(lab.producer().send(new Message(topic, "T", body)));
        MessageExt got = receiveOne(lab, topic);
        Check.that(Arrays.equals(body, got.getBody()), "the compressed body came back changed");
        Check.that(got.getStoreSize() < body.length / 10, "stored in %d bytes: was not compressed", got.getStoreSize());
        MessageExt viewed = lab.admin().viewMessage(topic, result.getOffsetMsgId());
        Check.that(Arrays.equals(body, viewed.getBody()), "the viewed body differs");
    }

    static void unicode(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        String words = "\u5ef6\u8fdf\u6d88\u606f \u0437\u0430\u0434\u0435\u0440\u0436\u043a\u0430 \u23f0 \ud83d\udc4d\ud83c\udffd e\u0301";
        Message message = new Message(topic, "\u6807\u7b7e", words.getBytes(StandardCharsets.UTF_8));
        message.setKeys("\u952e-\ud83d\udd11");
        message.putUserProperty("\u5c5e\u6027", "\u503c \u00df \ud83c\udf31");
        Lab.sent(lab.producer().send(message));
        MessageExt got = receiveOne(lab, topic);
        Check.equal(words, Lab.text(got), "body");
        Check.equal("\u6807\u7b7e", got.getTags(), "tag");
        Check.equal("\u952e-\ud83d\udd11", got.getKeys(), "key");
        Check.equal("\u503c \u00df \ud83c\udf31", got.getUserProperty("\u5c5e\u6027"), "user property");
    }

    static void viewById(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        DefaultMQProducer producer = lab.producer();
        Message message = Lab.message(topic, "View", "look at me");
        message.setKeys("view-key");
        message.setFlag(7);
        long begin = System.currentTimeMillis();
        SendResult result = Lab.sent(producer.send(message));
        MessageExt viewed = lab.admin().viewMessage(topic, result.getOffsetMsgId());
        Check.equal("look at me", Lab.text(viewed), "body");
        Check.equal(topic, viewed.getTopic(), "topic");
        Check.equal("View", viewed.getTags(), "tag");
        Check.equal("view-key", viewed.getKeys(), "key");
        Check.equal(7, viewed.getFlag(), "flag");
        Check.equal(result.getMsgId(), viewed.getMsgId(), "client's message id");
        Check.equal(result.getMessageQueue().getQueueId(), viewed.getQueueId(), "queue");
        Check.equal(result.getQueueOffset(), viewed.getQueueOffset(), "queue offset");
        Check.that(viewed.getStoreTimestamp() >= begin, "stored at %d, before the send at %d", viewed.getStoreTimestamp(), begin);
        Check.that(viewed.getBornTimestamp() >= begin, "born at %d, before the send at %d", viewed.getBornTimestamp(), begin);

        String nowhere = result.getOffsetMsgId().substring(0, 16) + "00000000FFFFFFF0";
        Check.fails(Exception.class, "view of an id that points nowhere", () -> lab.admin().viewMessage(topic, nowhere));
    }

    /** Messages by their keys and by the client's id, with the calls that applications use. */
    static void queryByKey(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        DefaultMQProducer producer = lab.producer();
        long begin = System.currentTimeMillis() - 1_000;
        SendResult first = sendKeyed(producer, topic, "first", "order-1 customer-7");
        SendResult second = sendKeyed(producer, topic, "second", "order-2 customer-7");
        long end = System.currentTimeMillis() + 60_000;
        // The real broker builds its index a little later.
        Lab.await("both messages are found", () -> bodies(producer, topic, "customer-7", begin, end).equals("first second"));
        Check.equal("first", bodies(producer, topic, "order-1", begin, end), "by one of two keys");
        Check.equal("nothing: 208", bodies(producer, topic, "order-3", begin, end), "by a key that no message has");
        Check.equal("nothing: 208", bodies(producer, topic, "order-1", 1, 2), "at another time");
        Check.equal("nothing: 208", bodies(producer, topic, "customer", begin, end), "by the beginning of a key");

        QueryResult found = lab.admin().queryMessage(topic, "order-2", 32, begin, end);
        Check.equal(1, found.getMessageList().size(), "messages for the admin tool");
        Check.that(found.getIndexLastUpdateTimestamp() >= begin, "the index ends at %d", found.getIndexLastUpdateTimestamp());
        Check.equal("second", Lab.text(producer.viewMessage(topic, second.getMsgId())), "by the client's id");
        Check.equal("first", Lab.text(lab.admin().viewMessage(topic, first.getMsgId())), "by the client's id, with the admin tool");
        MQClientException none = Check.fails(MQClientException.class, "an id that no message has",
            () -> producer.viewMessage(topic, "7F0000010001000000000000000000FF"));
        Check.equal(NO_MESSAGE, none.getResponseCode(), "answer to an id that no message has");
    }

    private static SendResult sendKeyed(DefaultMQProducer producer, String topic, String body, String keys) throws Exception {
        Message message = Lab.message(topic, "Q", body);
        message.setKeys(keys);
        return Lab.sent(producer.send(message));
    }

    private static String bodies(DefaultMQProducer producer, String topic, String key, long begin, long end) {
        try {
            return producer.queryMessage(topic, key, 32, begin, end).getMessageList().stream()
                .sorted(Comparator.comparingLong(MessageExt::getCommitLogOffset)).map(Lab::text).collect(Collectors.joining(" "));
        } catch (MQClientException e) {
            return "nothing: " + e.getResponseCode();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MessageExt receiveOne(Lab lab, String topic) throws Exception {
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        inbox.await("one message", list -> !list.isEmpty());
        return inbox.all().get(0).message;
    }
}
