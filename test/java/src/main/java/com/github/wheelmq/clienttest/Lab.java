package com.github.wheelmq.clienttest;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * What one scenario works with: names of its own on the shared server, and clients that are shut
 * down when it ends.
 *
 * <p>The sources are compiled against the clients of 5.x and 4.9, which have the classes of the
 * protocol in different packages; {@code var} does without their names.
 */
final class Lab implements AutoCloseable {
    /** How long any awaited thing may take; generous, because a passing test never waits for it. */
    static final long PATIENCE_MILLIS = 240_000;

    /** How long a client waits for an answer: the defaults of 3 s are too short for a machine that stalls. */
    static final int CALL_MILLIS = 60_000;

    private static final int READ_AND_WRITE = 6;
    private static final AtomicInteger SERIAL = new AtomicInteger();
    private static final String RUN = UUID.randomUUID().toString().substring(0, 6);

    final String scenario;
    final String namesrv;
    final String broker;
    private final DefaultMQAdminExt admin;
    private final Deque<Runnable> closers = new ArrayDeque<>();
    private final List<String> notes = new ArrayList<>();

    Lab(String scenario, String namesrv, String broker, DefaultMQAdminExt admin) {
        this.scenario = scenario;
        this.namesrv = namesrv;
        this.broker = broker;
        this.admin = admin;
    }

    DefaultMQAdminExt admin() {
        return admin;
    }

    /** A name that no other scenario or run uses. */
    String name(String part) {
        return "J_" + scenario.replace('-', '_') + "_" + part + "_" + RUN;
    }

    /** Keeps a measured value for the report; it decides nothing. */
    void note(String format, Object... args) {
        notes.add(String.format(format, args));
    }

    List<String> notes() {
        return notes;
    }

    /** Creates a topic and returns once the name server routes to it. */
    String topic(String part, int queues) throws Exception {
        return topicNamed(name(part), queues);
    }

    /** {@link #topic} with the whole name. */
    String topicNamed(String topic, int queues) throws Exception {
        admin.createAndUpdateTopicConfig(broker, new TopicConfig(topic, queues, queues, READ_AND_WRITE));
        await("route of " + topic, () -> queues == routedQueues(topic));
        return topic;
    }

    int routedQueues(String topic) {
        try {
            return admin.examineTopicRouteInfo(topic).getQueueDatas().stream().mapToInt(data -> data.getWriteQueueNums()).sum();
        } catch (MQClientException | RemotingException notYet) {
            return 0;
        } catch (Exception e) {
            throw new IllegalStateException("route of " + topic, e);
        }
    }

    DefaultMQProducer producer() throws Exception {
        return producer(p -> {});
    }

    DefaultMQProducer producer(Setting<DefaultMQProducer> setting) throws Exception {
        return start(new DefaultMQProducer(name("P")), setting);
    }

    /** A producer that records what it sends. */
    DefaultMQProducer tracedProducer() throws Exception {
        return start(new DefaultMQProducer(name("P"), null, true, null), p -> {});
    }

    TransactionMQProducer transactionProducer(String group, TransactionListener decisions) throws Exception {
        return start(new TransactionMQProducer(group), p -> p.setTransactionListener(decisions));
    }

    private <P extends DefaultMQProducer> P start(P producer, Setting<P> setting) throws Exception {
        prepare(producer, "p");
        producer.setSendMsgTimeout(CALL_MILLIS);
        setting.apply(producer);
        producer.start();
        closers.push(producer::shutdown);
        return producer;
    }

    /** A push consumer of a group that starts at the first message; not yet started. */
    DefaultMQPushConsumer pushConsumer(String group) {
        return prepared(new DefaultMQPushConsumer(group));
    }

    /** A {@link #pushConsumer} that records what it consumes. */
    DefaultMQPushConsumer tracedPushConsumer(String group) {
        return prepared(new DefaultMQPushConsumer(group, null, new AllocateMessageQueueAveragely(), true, null));
    }

    private DefaultMQPushConsumer prepared(DefaultMQPushConsumer consumer) {
        prepare(consumer, "c");
        consumer.setConsumeThreadMin(2);
        consumer.setConsumeThreadMax(4);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setAwaitTerminationMillisWhenShutdown(5_000);
        closers.push(consumer::shutdown);
        return consumer;
    }

    /** Sets the model whose type each version of the client has elsewhere. */
    static void broadcasting(DefaultMQPushConsumer consumer) {
        consumer.setMessageModel(Enum.valueOf(consumer.getMessageModel().getDeclaringClass(), "BROADCASTING"));
    }

    DefaultMQPullConsumer pullConsumer(String group) throws MQClientException {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(group);
        prepare(consumer, "l");
        consumer.start();
        closers.push(consumer::shutdown);
        return consumer;
    }

    /** A polling consumer of a group that starts at the first message. */
    DefaultLitePullConsumer litePullConsumer(String group, Setting<DefaultLitePullConsumer> setting) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group);
        prepare(consumer, "q");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        setting.apply(consumer);
        consumer.start();
        closers.push(consumer::shutdown);
        return consumer;
    }

    /** Gives every client a connection of its own, as separate applications would have. */
    private void prepare(ClientConfig client, String kind) {
        client.setNamesrvAddr(namesrv);
        client.setInstanceName(scenario + "-" + kind + SERIAL.incrementAndGet());
        // A rebalance changes the subscription's version, and the client skips the heartbeat that would
        // tell the broker when its periodic one is under way; a broker then refuses pulls (code 25)
        // until the next, by default after 30 s.
        client.setHeartbeatBrokerInterval(5_000);
        client.setMqClientApiTimeout(CALL_MILLIS);
    }

    /** The offset that the next message of each queue will have. */
    Map<MessageQueue, Long> offsets(String topic) throws Exception {
        Map<MessageQueue, Long> offsets = new HashMap<>();
        for (var data : admin.examineTopicRouteInfo(topic).getQueueDatas()) {
            for (int id = 0; id < data.getWriteQueueNums(); id++) {
                MessageQueue queue = new MessageQueue(topic, data.getBrokerName(), id);
                offsets.put(queue, admin.maxOffset(queue));
            }
        }
        return offsets;
    }

    /** Messages stored in a topic, over all its queues. */
    private long stored(String topic) {
        try {
            return offsets(topic).values().stream().mapToLong(Long::longValue).sum();
        } catch (Exception e) {
            throw new IllegalStateException("offsets of " + topic, e);
        }
    }

    /**
     * Waits until a topic holds so many messages, and states that it holds no more. A broker may
     * acknowledge a send before it counts the message.
     */
    void awaitStored(String topic, long count) throws InterruptedException {
        await(count + " messages in " + topic, () -> stored(topic) >= count);
        Check.equal(count, stored(topic), "messages in " + topic);
    }

    /** The offset that the broker keeps for a group, -1 without one. */
    long committed(String group, MessageQueue queue) {
        try {
            var offset = admin.examineConsumeStats(group).getOffsetTable().get(queue);
            return offset == null ? -1 : offset.getConsumerOffset();
        } catch (MQClientException e) {
            return -1;
        } catch (Exception e) {
            throw new IllegalStateException("offsets of " + group, e);
        }
    }

    /**
     * Plays what must be over within a time, and again with three times the time as long as a slow
     * machine made it late.
     */
    static void withLead(long millis, Timed timed) throws Exception {
        final int tries = 3;
        for (int i = 0; i < tries; i++, millis *= 3) {
            if (timed.play(millis)) {
                return;
            }
        }
        throw new AssertionError(millis / 3 + " ms were too short, too");
    }

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        while (!condition.getAsBoolean()) {
            Check.that(System.nanoTime() < deadline, "waited %d ms for %s", PATIENCE_MILLIS, what);
            Thread.sleep(20);
        }
    }

    static SendResult sent(SendResult result) {
        Check.equal(SendStatus.SEND_OK, result.getSendStatus(), "send status");
        return result;
    }

    static Message message(String topic, String tag, String body) {
        return new Message(topic, tag, body.getBytes(StandardCharsets.UTF_8));
    }

    static String text(Message message) {
        return new String(message.getBody(), StandardCharsets.UTF_8);
    }

    /** Closes all clients at the same time: each may take three seconds, for no reason of the server's. */
    @Override
    public void close() {
        List<Thread> threads = new ArrayList<>();
        while (!closers.isEmpty()) {
            Thread thread = new Thread(closers.pop(), scenario + "-close");
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Is played within a time, with topics of its own for each try, and tells whether it came through. */
    interface Timed {
        boolean play(long millis) throws Exception;
    }

    /** A change to a client before it starts. */
    interface Setting<T> {
        void apply(T client) throws Exception;
    }
}
