package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What docs/testing.md shows. */
@WheelMQTest(virtualClock = true, topics = "orders:1")
class CookbookTest {
    private static final Clients PRODUCERS = new Clients();
    private static DefaultMQProducer producer;

    private final Clients clients = new Clients();

    @BeforeAll
    static void connect(WheelMQ mq) throws MQClientException {
        producer = PRODUCERS.producer(mq.nameServer());
        producer.setRetryTimesWhenSendFailed(20);
        producer.setSendMsgMaxTimeoutPerRequest(5_000);
    }

    @AfterAll
    static void shutdown() {
        PRODUCERS.close();
    }

    @AfterEach
    void stopConsuming() {
        clients.close();
    }

    @BeforeEach
    void empty(WheelMQ mq) {
        mq.reset();
    }

    @Test
    void unpaidOrder_isCancelledAfterTwoHours(WheelMQ mq) throws Exception {
        Queue<String> cancelled = new ConcurrentLinkedQueue<>();
        clients.consumer(mq.nameServer(), "cancel", "orders", order -> cancelled.add(Clients.text(order)));
        Message order = Clients.message("orders", "no 1");
        order.setDelayTimeLevel(18);
        producer.send(order);

        mq.clock().advance(Duration.ofHours(2));
        mq.awaitConsumed("cancel", 1, Duration.ofSeconds(10));

        assertEquals("no 1", cancelled.poll());
    }

    @Test
    void whatCannotBeBilled_endsAmongTheDeadLetters(WheelMQ mq) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        clients.consumer(mq.nameServer(), "billing", "orders", order -> attempts.incrementAndGet() < 0);
        producer.send(Clients.message("orders", "no 1"));

        mq.clock().advanceUntil(Until.messages("%DLQ%billing", 1), Duration.ofHours(5));

        assertEquals("no 1", mq.dlq("billing").get(0).text());
        assertEquals(17, attempts.get());
    }

    @Test
    void orderThatComesTwice_hasOneId(WheelMQ mq) throws Exception {
        ActiveFault lost = mq.faults().add(Fault.dropReply("SEND_MESSAGE_V2").topic("orders").times(1));
        producer.send(Clients.message("orders", "no 1"));
        lost.awaitHits(1, Duration.ofSeconds(10));

        assertEquals(2, mq.messages("orders").size());
        assertEquals(mq.messages("orders").get(0).msgId(), mq.messages("orders").get(1).msgId());
    }

    @Test
    void orders_surviveARestart(WheelMQ mq) throws Exception {
        producer.send(Clients.message("orders", "no 1"));
        mq.restart();
        producer.send(Clients.message("orders", "no 2"));
        assertEquals(2, mq.messages("orders").size());
    }

    @Test
    void slowBroker(WheelMQ mq) throws Exception {
        mq.faults().add(Fault.delay("SEND_MESSAGE_V2", Duration.ofMillis(300)).topic("orders").times(1));
        producer.send(Clients.message("orders", "no 1"));
        assertEquals(1, mq.messages("orders").size());
    }

    @Test
    void fullDisk_isAnErrorOfTheSend(WheelMQ mq) throws Exception {
        try (ActiveFault full = mq.faults().add(Fault.diskFull())) {
            assertThrows(MQClientException.class, () -> producer.send(Clients.message("orders", "no 1")));
            assertTrue(full.hits() > 0);
        }
        producer.send(Clients.message("orders", "no 2"));
    }

    @Test
    void stalledScheduler_holdsDueMessagesBack(WheelMQ mq) {
        mq.produce(Outgoing.to("orders", "no 1").delayLevel(18));
        try (ActiveFault stalled = mq.faults().add(Fault.schedulerStalled())) {
            mq.clock().advance(Duration.ofHours(3));
            assertTrue(stalled.hits() > 0);
            assertTrue(mq.messages("orders").isEmpty());
        }
        mq.clock().advance(Duration.ofMillis(1));
        assertEquals(1, mq.messages("orders").size());
    }

    @Test
    void orders_needNothingThatRocketMQLacks(WheelMQ mq) throws Exception {
        producer.send(Clients.message("orders", "no 1"));
        assertEquals(List.of(), mq.differences());
    }
}
