package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;

/** Transactional messages: committed, rolled back, or decided when the broker asks back. */
final class TransactionScenarios {
    private TransactionScenarios() {}

    /** The application's side: what to say when a message was sent, and what when the broker asks. */
    private static final class Decisions implements TransactionListener {
        private final Function<Message, LocalTransactionState> first;
        private final Function<MessageExt, LocalTransactionState> later;
        final Map<String, List<MessageExt>> asked = new ConcurrentHashMap<>();

        Decisions(Function<Message, LocalTransactionState> first, Function<MessageExt, LocalTransactionState> later) {
            this.first = first;
            this.later = later;
        }

        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
            return first.apply(message);
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            asked.computeIfAbsent(message.getTags() + message.getKeys(), k -> new ArrayList<>()).add(message);
            return later.apply(message);
        }
    }

    /** What is decided at once: the committed messages come as they were sent, the others never. */
    static void decided(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        Decisions decisions = new Decisions(m -> LocalTransactionState.valueOf(m.getTags()), m -> LocalTransactionState.UNKNOW);
        TransactionMQProducer producer = lab.transactionProducer(lab.name("P"), decisions);
        Inbox inbox = consume(lab, topic);
        List<String> committed = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            LocalTransactionState state = i % 2 == 0 ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE;
            TransactionSendResult result = send(producer, topic, state.name(), "k" + i, ("decided-" + i).getBytes());
            Check.equal(state, result.getLocalTransactionState(), "state of message " + i);
            if (i % 2 == 0) {
                committed.add("decided-" + i);
            }
        }
        inbox.awaitExactly(committed);
        for (Inbox.Arrival arrival : inbox.all()) {
            MessageExt message = arrival.message;
            String n = arrival.body().substring("decided-".length());
            Check.equal("k" + n, message.getKeys(), "key of " + arrival.body());
            Check.equal("yes", message.getUserProperty("mine"), "user property of " + arrival.body());
            Check.equal(message.getMsgId(), message.getTransactionId(), "transaction of " + arrival.body());
            Check.equal(lab.name("P"), message.getProperty(MessageConst.PROPERTY_PRODUCER_GROUP), "producer group of " + arrival.body());
            Check.that(message.getPreparedTransactionOffset() > 0, "%s does not name its half message", arrival.body());
            Check.equal(0, message.getReconsumeTimes(), "reconsumeTimes of " + arrival.body());
        }
        lab.awaitStored(topic, committed.size());
    }

    /** What is left open: the broker shows the message as it was sent and takes the answer then. */
    static void askedBack(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        Decisions decisions = new Decisions(m -> LocalTransactionState.UNKNOW, m -> LocalTransactionState.valueOf(m.getTags()));
        TransactionMQProducer producer = lab.transactionProducer(lab.name("P"), decisions);
        Inbox inbox = consume(lab, topic);
        List<String> committed = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String state = (i % 2 == 0 ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE).name();
            send(producer, topic, state, "k" + i, ("asked-" + i).getBytes());
            if (i % 2 == 0) {
                committed.add("asked-" + i);
            }
        }
        inbox.awaitExactly(committed);
        Lab.await("questions about all", () -> decisions.asked.size() == 6);
        decisions.asked.forEach((key, questions) -> {
            MessageExt message = questions.get(0);
            Check.equal(topic, message.getTopic(), "topic in the question about " + key);
            Check.equal("asked-" + message.getKeys().substring(1), Lab.text(message), "body in the question about " + key);
            Check.equal("yes", message.getUserProperty("mine"), "user property in the question about " + key);
            Check.equal("1", message.getProperty(MessageConst.PROPERTY_TRANSACTION_CHECK_TIMES), "count in the question about " + key);
        });
        inbox.exactly(committed);
    }

    /** Another client of the producer's group answers for the one that has gone. */
    static void askedOfAnother(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        String group = lab.name("P");
        Decisions first = new Decisions(m -> LocalTransactionState.UNKNOW, m -> LocalTransactionState.UNKNOW);
        TransactionMQProducer gone = lab.transactionProducer(group, first);
        send(gone, topic, "T", "k", "orphan".getBytes());
        gone.shutdown();
        Inbox inbox = consume(lab, topic);
        TransactionMQProducer heir = lab.transactionProducer(group,
            new Decisions(m -> LocalTransactionState.COMMIT_MESSAGE, m -> LocalTransactionState.COMMIT_MESSAGE));
        // A client makes itself known to a broker with its first message.
        send(heir, topic, "T", "k", "of the heir".getBytes());
        inbox.awaitExactly(List.of("orphan", "of the heir"));
    }

    /** A compressed body goes unchanged through the half message, the question, and the commit. */
    static void compressed(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        Inbox inbox = consume(lab, topic);
        Decisions decisions = new Decisions(m -> LocalTransactionState.UNKNOW, m -> LocalTransactionState.COMMIT_MESSAGE);
        for (String way : CompressionScenarios.BITS.keySet()) {
            TransactionMQProducer producer = CompressionScenarios.compressingBy(way,
                () -> lab.transactionProducer(lab.name("P" + way), decisions));
            send(producer, topic, way, "k", CompressionScenarios.body(way));
        }
        inbox.await("a message of each", list -> list.stream().map(a -> a.message.getTags()).distinct().count() == CompressionScenarios.BITS.size());
        for (MessageExt message : inbox.all().stream().map(a -> a.message).collect(Collectors.toList())) {
            CompressionScenarios.stillCompressed(message, message.getTags());
        }
        for (String way : CompressionScenarios.BITS.keySet()) {
            CompressionScenarios.stillCompressed(decisions.asked.get(way + "k").get(0), way);
        }
    }

    private static TransactionSendResult send(TransactionMQProducer producer, String topic, String tag, String key, byte[] body)
        throws Exception {
        Message message = new Message(topic, tag, body);
        message.setKeys(key);
        message.putUserProperty("mine", "yes");
        TransactionSendResult result = producer.sendMessageInTransaction(message, null);
        Lab.sent(result);
        return result;
    }

    private static Inbox consume(Lab lab, String topic) throws Exception {
        Inbox inbox = new Inbox();
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(inbox.listener());
        consumer.start();
        return inbox;
    }
}
