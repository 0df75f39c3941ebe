package io.github.wheelmq.examples.orders;

import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
import org.apache.rocketmq.spring.core.RocketMQListener;
import org.springframework.stereotype.Component;

/** Comes two hours after the order. */
@Component
@RocketMQMessageListener(topic = "order-unpaid", consumerGroup = "cancellation")
class UnpaidOrderListener implements RocketMQListener<String> {
    private final Orders orders;

    UnpaidOrderListener(Orders orders) {
        this.orders = orders;
    }

    @Override
    public void onMessage(String id) {
        orders.cancelUnlessPaid(id);
    }
}
