package com.github.wheelmq.proxytest;

import java.time.Duration;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientException;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.apis.producer.SendReceipt;
import org.apache.rocketmq.client.apis.producer.Transaction;
import org.apache.rocketmq.client.apis.producer.TransactionResolution;

/** What producers do. */
final class Produce {
    /** For a busy machine. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(20);

    private final ClientConfiguration configuration;
    private final Driver driver;

    Produce(String endpoints, Driver driver) {
        this.configuration = configuration(endpoints);
        this.driver = driver;
    }

    static ClientConfiguration configuration(String endpoints) {
        return ClientConfiguration.newBuilder().setEndpoints(endpoints).enableSsl(false)
            .setRequestTimeout(REQUEST_TIMEOUT).build();
    }

    Producer producer(Wire.Command c) throws ClientException {
        return ClientServiceProvider.loadService().newProducerBuilder()
            .setClientConfiguration(configuration)
            .setTopics(c.topic)
            .setTransactionChecker(message -> {
                driver.tell(Wire.Reply.event("checked", c, Messages.incoming(message, 0)));
                return resolution(c.resolution);
            })
            .build();
    }

    private static TransactionResolution resolution(String name) {
        if ("commit".equals(name)) {
            return TransactionResolution.COMMIT;
        }
        return "rollback".equals(name) ? TransactionResolution.ROLLBACK : TransactionResolution.UNKNOWN;
    }

    void send(Producer producer, Wire.Command c, Wire.Reply reply) throws ClientException {
        SendReceipt receipt = producer.send(Messages.outgoing(c.message));
        reply.messageId = receipt.getMessageId().toString();
        reply.recallHandle = receipt.getRecallHandle();
    }

    void transaction(Producer producer, Wire.Command c, Wire.Reply reply) throws ClientException {
        Transaction transaction = producer.beginTransaction();
        reply.messageId = producer.send(Messages.outgoing(c.message), transaction).getMessageId().toString();
        switch (resolution(c.resolution)) {
            case COMMIT:
                transaction.commit();
                break;
            case ROLLBACK:
                transaction.rollback();
                break;
            default:
        }
    }

    void recall(Producer producer, Wire.Command c, Wire.Reply reply) throws ClientException {
        reply.messageId = producer.recallMessage(c.topic, c.handle).getMessageId().toString();
    }
}
