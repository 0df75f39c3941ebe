package io.github.wheelmq.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.github.wheelmq.examples.orders.Orders.State;
import io.github.wheelmq.junit5.Message;
import io.github.wheelmq.junit5.Until;
import io.github.wheelmq.junit5.WheelMQ;
import io.github.wheelmq.junit5.WheelMQTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** The context is thrown away with the class: its clients are connected to the server of this class. */
@WheelMQTest(virtualClock = true, topics = {"bill-order:4", "order-unpaid:4"})
@SpringBootTest
@DirtiesContext
class OrdersTest {
    @Autowired
    private Orders orders;

    @MockitoBean
    private BillingService billing;

    @Test
    void orderThatNobodyPays_isCancelledAfterTwoHours(WheelMQ mq) {
        orders.place("unpaid");
        mq.clock().advance(Duration.ofMinutes(119));
        assertThat(orders.state("unpaid")).isEqualTo(State.PLACED);

        mq.clock().advanceUntil(() -> orders.state("unpaid") == State.CANCELLED, Duration.ofMinutes(2));
    }

    @Test
    void orderThatIsPaid_isKept(WheelMQ mq) {
        orders.place("paid");
        orders.paid("paid");
        mq.clock().advanceUntil(Until.idle(), Duration.ofHours(3));
        assertThat(orders.state("paid")).isEqualTo(State.PAID);
    }

    @Test
    void billingThatIsDownForAMinute_isTriedAgain(WheelMQ mq) {
        doThrow(new IllegalStateException("down")).doThrow(new IllegalStateException("down")).doNothing()
            .when(billing).bill("patient");
        orders.place("patient");
        mq.clock().advanceUntil(() -> orders.isBilled("patient"), Duration.ofMinutes(5));
        verify(billing, times(3)).bill("patient");
        assertThat(mq.dlq("billing")).noneMatch(message -> message.text().equals("patient"));
    }

    @Test
    void billingThatStaysDown_leavesADeadLetter(WheelMQ mq) {
        doThrow(new IllegalStateException("down")).when(billing).bill("hopeless");
        orders.place("hopeless");
        mq.clock().advanceUntil(Until.messages("%DLQ%billing", 1), Duration.ofHours(5));
        verify(billing, times(17)).bill("hopeless");
        assertThat(mq.dlq("billing")).singleElement().returns("hopeless", Message::text);
    }
}
