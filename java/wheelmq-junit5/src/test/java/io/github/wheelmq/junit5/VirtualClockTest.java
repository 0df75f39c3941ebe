package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

@WheelMQTest(virtualClock = true, topics = {"orders:4", "reminders:1"})
class VirtualClockTest {
    /** The levels 3 to 18 of RocketMQ: 10 s, 30 s, 1 m to 10 m, 20 m, 30 m, 1 h, 2 h. */
    private static final Duration SIXTEEN_RETRIES = Duration.ofHours(4).plusMinutes(45).plusSeconds(40);

    private static final int TWO_HOURS = 18;

    private static final Clients PRODUCERS = new Clients();
    private static DefaultMQProducer producer;

    private final Clients consumers = new Clients();

    @BeforeAll
    static void connect(WheelMQ mq) throws MQClientException {
        producer = PRODUCERS.producer(mq.nameServer());
    }

    @AfterAll
    static void shutdown() {
        PRODUCERS.close();
    }

    @AfterEach
    void stopConsuming(WheelMQ mq) {
        consumers.close();
        mq.reset();
    }

    @Test
    void sixteenRetriesEndInTheDeadLetterQueue(WheelMQ mq) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        consumers.consumer(mq.nameServer(), "billing", "orders", message -> {
            attempts.incrementAndGet();
            return false;
        });
        Stopwatch watch = new Stopwatch();
        producer.send(Clients.message("orders", "cannot be billed"));
        Moved moved = mq.clock().advanceUntil(Until.messages("%DLQ%billing", 1), Duration.ofHours(5));
        watch.print("sixteen retries to the dead-letter queue, from the send on");

        assertEquals(17, attempts.get());
        assertTrue(moved.by().compareTo(SIXTEEN_RETRIES) >= 0, moved.toString());
        List<io.github.wheelmq.junit5.Message> dead = mq.dlq("billing");
        assertEquals(1, dead.size());
        assertEquals("cannot be billed", dead.get(0).text());
        assertTrue(mq.pending().isEmpty());
    }

    @Test
    void delayedMessageComesWhenTheClockIsTurned(WheelMQ mq) throws Exception {
        List<String> got = new CopyOnWriteArrayList<>();
        consumers.consumer(mq.nameServer(), "mailer", "reminders", message -> got.add(Clients.text(message)));
        Message message = Clients.message("reminders", "pay");
        message.setDelayTimeLevel(TWO_HOURS);
        Stopwatch watch = new Stopwatch();
        producer.send(message);

        mq.clock().advance(Duration.ofHours(2).minusMillis(2));
        assertTrue(mq.messages("reminders").isEmpty());
        assertEquals(1, mq.pending().size());
        assertEquals("pay", mq.pending().get(0).message().text());

        mq.clock().advance(Duration.ofMinutes(1));
        mq.awaitConsumed("mailer", 1, Duration.ofSeconds(60));
        watch.print("a message delayed by two hours, from the send to the consumer");
        assertEquals(List.of("pay"), got);
    }

    @Test
    void conditionOfTheTest_isLookedAtBetweenDueInstants(WheelMQ mq) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        consumers.consumer(mq.nameServer(), "shy", "orders", message -> attempts.incrementAndGet() == 4);
        producer.send(Clients.message("orders", "three times in vain"));

        Moved moved = mq.clock().advanceUntil(() -> attempts.get() == 4, Duration.ofHours(1));

        // 10 s, 30 s, 1 m.
        assertTrue(moved.by().compareTo(Duration.ofSeconds(100)) >= 0, moved.toString());
        assertTrue(moved.by().compareTo(Duration.ofSeconds(160)) < 0, moved.toString());
        mq.awaitConsumed("shy", 1, Duration.ofSeconds(60));
    }

    @Test
    void conditionThatNothingCanFulfil_isRefusedAtOnce(WheelMQ mq) {
        assertEquals("nothing-pending",
            kindOf(() -> mq.clock().advanceUntil(() -> false, Duration.ofHours(1), Duration.ofMillis(20))));
        assertEquals("nothing-pending", kindOf(() -> mq.clock().advanceToNext()));
        mq.produce(Outgoing.to("reminders", "later").delayLevel(TWO_HOURS));
        assertEquals("limit", kindOf(() -> mq.clock().advanceUntil(() -> false, Duration.ofHours(1))));
        assertEquals("limit", kindOf(() -> mq.clock().advanceUntil(Until.messages("reminders", 1), Duration.ofHours(1))));
    }

    @Test
    void autoSkip_needsNobodyToTurnTheClock(WheelMQ mq) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        consumers.consumer(mq.nameServer(), "patient", "orders", message -> attempts.incrementAndGet() == 6);
        mq.clock().autoSkip(true);
        try {
            producer.send(Clients.message("orders", "five times in vain"));
            mq.awaitConsumed("patient", 1, Duration.ofSeconds(60));
        } finally {
            mq.clock().autoSkip(false);
        }
        assertEquals(6, attempts.get());
    }

    private static String kindOf(Executable call) {
        return assertThrows(WheelMQException.class, call).kind();
    }
}
