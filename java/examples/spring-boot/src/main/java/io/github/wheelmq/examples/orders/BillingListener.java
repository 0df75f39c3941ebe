package io.github.wheelmq.examples.orders;

import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
import org.apache.rocketmq.spring.core.RocketMQListener;
import org.springframework.stereotype.Component;

/** Sends a bill; what throws is tried again by RocketMQ, later each time, and ends among the dead letters. */
@Component
@RocketMQMessageListener(topic = "bill-order", consumerGroup = "billing")
class BillingListener implements RocketMQListener<String> {
    private final BillingService billing;
    private final Orders orders;

    BillingListener(BillingService billing, Orders orders) {
        this.billing = billing;
        this.orders = orders;
    }

    @Override
    public void onMessage(String id) {
        billing.bill(id);
        orders.billed(id);
    }
}
