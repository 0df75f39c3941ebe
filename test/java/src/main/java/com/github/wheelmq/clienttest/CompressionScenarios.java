package com.github.wheelmq.clienttest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Bodies that the client compresses in each of its ways: the broker keeps bytes and bits as they are. */
final class CompressionScenarios {
    /** The bits of a message's system flags that name the way; the client clears the one that says compressed. */
    static final Map<String, Integer> BITS = Map.of("LZ4", 0x100, "ZSTD", 0x200, "ZLIB", 0x300);
    static final int ALL_BITS = 0x700;

    private CompressionScenarios() {}

    /** A refused message comes again as it was, still compressed. */
    static void throughRetry(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.setPollNameServerInterval(1_000);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(inbox::add);
            context.setDelayLevelWhenNextConsume(1);
            return messages.get(0).getReconsumeTimes() == 0 ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        for (String way : BITS.keySet()) {
            Message message = new Message(topic, way, body(way));
            Lab.sent(compressingBy(way, lab::producer).send(message));
        }
        inbox.await("two attempts on each message", list -> list.size() >= 2 * BITS.size());
        for (String way : BITS.keySet()) {
            List<MessageExt> attempts = inbox.all().stream().map(a -> a.message).filter(m -> m.getTags().equals(way))
                .collect(Collectors.toList());
            Check.equal(2, attempts.size(), "attempts on the message of " + way);
            for (MessageExt attempt : attempts) {
                stillCompressed(attempt, way);
            }
            Check.equal(1, attempts.get(1).getReconsumeTimes(), "reconsumeTimes of the second attempt on " + way);
        }
    }

    /** The compression is a property of the process when the producer is made. */
    static <P extends DefaultMQProducer> P compressingBy(String way, Callable<P> maker) throws Exception {
        synchronized (CompressionScenarios.class) {
            System.setProperty("rocketmq.message.compressType", way);
            try {
                return maker.call();
            } finally {
                System.clearProperty("rocketmq.message.compressType");
            }
        }
    }

    static byte[] body(String way) {
        return ("compressed by " + way + " ").repeat(1_000).getBytes(StandardCharsets.UTF_8);
    }

    static void stillCompressed(MessageExt message, String way) {
        Check.equal(BITS.get(way), message.getSysFlag() & ALL_BITS, "compression bits of the message of " + way);
        Check.that(Arrays.equals(body(way), message.getBody()), "the body compressed by %s came back changed", way);
        Check.that(message.getStoreSize() < body(way).length / 10, "%s: stored in %d bytes", way, message.getStoreSize());
    }
}
