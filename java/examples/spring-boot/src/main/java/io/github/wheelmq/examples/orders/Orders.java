package io.github.wheelmq.examples.orders;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.spring.core.RocketMQTemplate;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.stereotype.Service;

/** The orders and what has become of them. */
@Service
public class Orders {
    /** What has become of an order. */
    public enum State { PLACED, PAID, CANCELLED }

    /** RocketMQ's delay level of two hours. */
    static final int TWO_HOURS = 18;

    private static final long SEND_TIMEOUT_MS = 3000;

    private final Map<String, State> states = new ConcurrentHashMap<>();
    private final Set<String> billed = ConcurrentHashMap.newKeySet();
    private final RocketMQTemplate rocket;

    Orders(RocketMQTemplate rocket) {
        this.rocket = rocket;
    }

    /** Places an order, which is cancelled unless it is paid within two hours; one that nobody could cancel is refused. */
    public void place(String id) {
        rocket.syncSend("order-unpaid", MessageBuilder.withPayload(id).build(), SEND_TIMEOUT_MS, TWO_HOURS);
        states.put(id, State.PLACED);
        rocket.syncSend("bill-order", id);
    }

    public void paid(String id) {
        states.replace(id, State.PLACED, State.PAID);
    }

    void cancelUnlessPaid(String id) {
        states.replace(id, State.PLACED, State.CANCELLED);
    }

    void billed(String id) {
        billed.add(id);
    }

    public State state(String id) {
        return states.get(id);
    }

    public boolean isBilled(String id) {
        return billed.contains(id);
    }
}
