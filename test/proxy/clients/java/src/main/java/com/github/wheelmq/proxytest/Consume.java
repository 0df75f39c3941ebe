package com.github.wheelmq.proxytest;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientException;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.FilterExpressionType;
import org.apache.rocketmq.client.apis.consumer.MessageListener;
import org.apache.rocketmq.client.apis.consumer.PushConsumer;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.MessageView;

/** What consumers do. */
final class Consume {
    private final ClientConfiguration configuration;
    private final Driver driver;

    Consume(String endpoints, Driver driver) {
        this.configuration = Produce.configuration(endpoints);
        this.driver = driver;
    }

    private static Map<String, FilterExpression> subscription(Wire.Command c) {
        FilterExpressionType type = c.sql ? FilterExpressionType.SQL92 : FilterExpressionType.TAG;
        return Map.of(c.topic, new FilterExpression(c.filter, type));
    }

    SimpleConsumer simple(Wire.Command c) throws ClientException {
        return ClientServiceProvider.loadService().newSimpleConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(c.group)
            .setAwaitDuration(Duration.ofMillis(c.awaitMillis))
            .setSubscriptionExpressions(subscription(c))
            .build();
    }

    PushConsumer push(Wire.Command c) throws ClientException {
        return ClientServiceProvider.loadService().newPushConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(c.group)
            .setSubscriptionExpressions(subscription(c))
            .setMessageListener(listener(c))
            .build();
    }

    private MessageListener listener(Wire.Command c) {
        Map<String, Integer> seen = new ConcurrentHashMap<>();
        return message -> {
            Wire.Message told = Messages.incoming(message, 0);
            driver.tell(Wire.Reply.event("delivered", c, told));
            return seen.merge(told.body, 1, Integer::sum) <= c.fail ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
        };
    }

    void receive(SimpleConsumer consumer, Wire.Command c, Wire.Reply reply) throws ClientException {
        reply.messages = new ArrayList<>();
        for (MessageView message : consumer.receive(c.max, Duration.ofMillis(c.invisibleMillis))) {
            reply.messages.add(Messages.incoming(message, driver.keep(message)));
        }
    }

    void ack(SimpleConsumer consumer, MessageView message) throws ClientException {
        consumer.ack(message);
    }

    void invisible(SimpleConsumer consumer, MessageView message, Wire.Command c) throws ClientException {
        consumer.changeInvisibleDuration(message, Duration.ofMillis(c.invisibleMillis));
    }
}
