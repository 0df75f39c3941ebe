package io.github.wheelmq.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.wheelmq.junit5.ActiveFault;
import io.github.wheelmq.junit5.Fault;
import io.github.wheelmq.junit5.WheelMQExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.messaging.MessagingException;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** With the extension as a field, whose server Spring is told by a property source. */
@SpringBootTest
@DirtiesContext
class BusyBrokerTest {
    @RegisterExtension
    static final WheelMQExtension MQ =
        WheelMQExtension.builder().topic("order-unpaid", 4).topic("bill-order", 4).withoutSystemProperties().build();

    @DynamicPropertySource
    static void rocketmq(DynamicPropertyRegistry registry) {
        registry.add("rocketmq.name-server", MQ::nameServer);
    }

    @Autowired
    private Orders orders;

    @Test
    void order_isRefusedWhileTheBrokerIsBusy() {
        try (ActiveFault busy = MQ.server().faults().add(Fault.respond("SEND_MESSAGE_V2", "SYSTEM_BUSY").topic("order-unpaid"))) {
            assertThatThrownBy(() -> orders.place("refused")).isInstanceOf(MessagingException.class);
            // The client tries three times.
            assertThat(busy.hits()).isEqualTo(3);
        }
        assertThat(orders.state("refused")).isNull();

        orders.place("accepted");
        assertThat(orders.state("accepted")).isEqualTo(Orders.State.PLACED);
        assertThat(MQ.server().pending()).singleElement().returns("accepted", pending -> pending.message().text());
    }
}
