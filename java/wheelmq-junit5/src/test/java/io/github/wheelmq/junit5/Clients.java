package io.github.wheelmq.junit5;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Clients of the official library as an application makes them. All for one server share a connection; the last of them
 * takes up to three seconds to shut down, so that tests keep a producer for the class.
 */
final class Clients implements AutoCloseable {
    /** What an application does with one message. */
    interface Listener {
        /** Tells whether it was consumed; false gives it back. */
        boolean consume(MessageExt message);
    }

    /** How long a client waits for an answer: a machine that stalls gives it late. */
    private static final int PATIENCE_MILLIS = 60_000;

    private final Deque<Runnable> shutdowns = new ArrayDeque<>();

    DefaultMQProducer producer(String nameServer) throws MQClientException {
        DefaultMQProducer producer = new DefaultMQProducer("producers");
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName(nameServer);
        producer.setSendMsgTimeout(PATIENCE_MILLIS);
        producer.setMqClientApiTimeout(PATIENCE_MILLIS);
        producer.start();
        shutdowns.push(producer::shutdown);
        return producer;
    }

    DefaultMQPushConsumer consumer(String nameServer, String group, String topic, Listener listener) throws MQClientException {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(nameServer);
        consumer.setMqClientApiTimeout(PATIENCE_MILLIS);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
            messages.stream().allMatch(listener::consume)
                ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        consumer.start();
        shutdowns.push(consumer::shutdown);
        return consumer;
    }

    static Message message(String topic, String text) {
        return new Message(topic, text.getBytes(StandardCharsets.UTF_8));
    }

    static String text(MessageExt message) {
        return new String(message.getBody(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        shutdowns.forEach(Runnable::run);
    }
}
