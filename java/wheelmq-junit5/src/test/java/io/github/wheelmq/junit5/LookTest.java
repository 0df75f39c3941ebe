package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.junit.jupiter.api.Test;

/** What a test sees of the server, on the machine's clock. */
@WheelMQTest(topics = {"seen:2", "made:1"})
class LookTest {
    @Test
    void messagesOfClients_areSeenWhole(WheelMQ mq) throws Exception {
        Instant begin = Instant.now().minusMillis(1);
        try (Clients clients = new Clients()) {
            DefaultMQProducer producer = clients.producer(mq.nameServer());
            org.apache.rocketmq.common.message.Message sent = Clients.message("seen", "ünï");
            sent.setTags("t");
            sent.setKeys("k");
            sent.putUserProperty("colour", "red");
            SendResult result = producer.send(sent);
            Message seen = mq.messages("seen").get(0);
            assertEquals("ünï", seen.text());
            assertEquals(result.getMsgId(), seen.msgId());
            assertEquals(result.getOffsetMsgId(), seen.offsetMsgId());
            assertEquals(result.getMessageQueue().getQueueId(), seen.queueId());
            assertEquals(0, seen.queueOffset());
            assertEquals("t", seen.tags());
            assertEquals("k", seen.keys());
            assertEquals("red", seen.properties().get("colour"));
            assertTrue(seen.bornAt().isAfter(begin) && seen.storedAt().isAfter(begin), seen.toString());
        }
    }

    @Test
    void producedMessages_reachClients(WheelMQ mq) throws Exception {
        List<String> got = new CopyOnWriteArrayList<>();
        try (Clients clients = new Clients()) {
            clients.consumer(mq.nameServer(), "readers", "made", message ->
                got.add(message.getTags() + message.getKeys() + message.getUserProperty("p") + Clients.text(message)));
            mq.produce(Outgoing.to("made", "x".getBytes()).tags("t").keys("k").property("p", "v").queue(0));
            mq.awaitConsumed("readers", 1, Duration.ofSeconds(60));
            assertEquals(List.of("tkvx"), got);
            assertTrue(mq.consumed("readers") >= 1);
        }
        // The consumer has committed when it was shut down.
        assertEquals(0, mq.lag("readers", "made"));
        assertEquals(0, mq.lag("readers"));
    }

    @Test
    void machineClock_isToldAndNotTurned(WheelMQ mq) {
        assertTrue(Duration.between(mq.clock().now(), Instant.now()).abs().toMinutes() < 1);
        assertEquals("real-clock",
            assertThrows(WheelMQException.class, () -> mq.clock().advance(Duration.ofHours(1))).kind());
    }

    @Test
    void whatIsNotThere_isNotFound(WheelMQ mq) {
        WheelMQException e = assertThrows(WheelMQException.class, () -> mq.messages("never-heard-of"));
        assertEquals("not-found", e.kind());
        assertTrue(e.getMessage().contains("never-heard-of"), e.getMessage());
        assertEquals(List.of(), mq.dlq("no-dead-letters"));
    }

    @Test
    void systemProperties_nameTheServer(WheelMQ mq) {
        assertEquals(mq.nameServer(), System.getProperty("rocketmq.name-server"));
        assertEquals(mq.nameServer(), System.getProperty("rocketmq.namesrv.addr"));
    }

    @Test
    void differences_tellWhatTheRealBrokerLacks(WheelMQ mq) throws Exception {
        try (Clients clients = new Clients()) {
            clients.consumer(mq.nameServer(), "newcomers", "seen", message -> true);
            Difference relied = mq.differences().stream()
                .filter(one -> one.name().equals("retry-route-at-first-query")).findFirst().orElseThrow();
            assertTrue(relied.count() > 0, relied.toString());
            assertTrue(relied.toString().contains(relied.ours()) && relied.toString().contains(relied.real()));
        }
    }

    @Test
    void log_tellsThatItIsForTests(WheelMQ mq) {
        assertTrue(mq.log().contains("TEST API IS ON"), mq.log());
    }
}
