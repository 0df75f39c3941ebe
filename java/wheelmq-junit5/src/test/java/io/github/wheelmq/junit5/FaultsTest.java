package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FaultsTest {
    private static final String SEND = "SEND_MESSAGE_V2";

    @RegisterExtension
    static final WheelMQExtension SERVER = WheelMQExtension.builder().topic("orders", 1).build();

    private static final Clients CLIENTS = new Clients();
    private static DefaultMQProducer producer;

    @BeforeAll
    static void connect() throws MQClientException {
        producer = CLIENTS.producer(SERVER.nameServer());
    }

    @AfterAll
    static void shutdown() {
        CLIENTS.close();
    }

    @BeforeEach
    void empty(WheelMQ mq) {
        mq.reset();
    }

    @Test
    void busyTwice_isNotSeenByTheApplication(WheelMQ mq) throws Exception {
        ActiveFault busy = mq.faults().add(Fault.respond(SEND, "SYSTEM_BUSY").topic("orders").times(2));
        producer.send(Clients.message("orders", "third time lucky"));
        assertEquals(2, busy.hits());
        assertTrue(busy.spent());
        assertEquals(1, mq.messages("orders").size());
        assertTrue(mq.exchanges().contains(busy.id()), mq.exchanges());
    }

    @Test
    void busyForGood_isAnErrorWithTheRemark(WheelMQ mq) throws Exception {
        try (ActiveFault busy = mq.faults().add(Fault.respond(SEND, "SYSTEM_BUSY").remark("not today").id("busy"))) {
            MQClientException e =
                assertThrows(MQClientException.class, () -> producer.send(Clients.message("orders", "never")));
            MQBrokerException cause = (MQBrokerException) e.getCause();
            assertEquals(ResponseCode.SYSTEM_BUSY, cause.getResponseCode());
            assertTrue(cause.getErrorMessage().contains("not today"), cause.getErrorMessage());
            assertEquals("busy", busy.id());
            assertFalse(busy.spent());
            busy.awaitHits(3, Duration.ofSeconds(60));
        }
        producer.send(Clients.message("orders", "tomorrow"));
        assertEquals(1, mq.messages("orders").size());
    }

    @Test
    void droppedReply_leavesTheMessageTwice(WheelMQ mq) throws Exception {
        producer.setSendMsgMaxTimeoutPerRequest(5_000);
        mq.faults().add(Fault.dropReply(SEND).times(1));
        producer.send(Clients.message("orders", "twice"));
        producer.setSendMsgMaxTimeoutPerRequest(-1);
        assertEquals(2, mq.messages("orders").size());
        assertEquals(mq.messages("orders").get(0).msgId(), mq.messages("orders").get(1).msgId());
    }

    @Test
    void ruleThatMakesNoSense_isRefused(WheelMQ mq) {
        WheelMQException e =
            assertThrows(WheelMQException.class, () -> mq.faults().add(Fault.respond("SEND_MESAGE", "SYSTEM_BUSY")));
        assertEquals("invalid", e.kind());
        assertTrue(e.getMessage().contains("SEND_MESAGE"), e.getMessage());
    }

    @Test
    void hitsThatDoNotCome_areATimeout(WheelMQ mq) {
        ActiveFault unused = mq.faults().add(Fault.closeConnection("*").topic("nobody"));
        WheelMQException e = assertThrows(WheelMQException.class, () -> unused.awaitHits(1, Duration.ofMillis(20)));
        assertEquals("timeout", e.kind());
        mq.faults().clear();
        assertEquals("not-found", assertThrows(WheelMQException.class, unused::hits).kind());
    }
}
