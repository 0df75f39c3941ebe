package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** The consumer that the application polls: in a group with others, or on queues that it names. */
final class LitePullScenarios {
    private static final int QUEUES = 2;

    private LitePullScenarios() {}

    /** Subscribes, polls everything once, commits, and a second member of the group goes on behind it. */
    static void subscribed(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        DefaultMQProducer producer = lab.producer();
        List<String> first = send(producer, topic, "first-", 40);
        DefaultLitePullConsumer consumer = lab.litePullConsumer(group, c -> c.subscribe(topic, "Even || Odd"));
        consumer.setAutoCommit(false);
        Check.equal(first, sorted(poll(consumer, first.size())), "polled messages");
        Check.equal(List.of(), bodies(consumer.poll(200)), "polled behind the last");
        consumer.commitSync();
        for (MessageQueue queue : consumer.assignment()) {
            Lab.await("the committed offset of " + queue, () -> lab.committed(group, queue) == first.size() / QUEUES);
        }
        consumer.shutdown();

        List<String> even = send(producer, topic, "second-", 20).stream().filter(LitePullScenarios::isEven).collect(Collectors.toList());
        DefaultLitePullConsumer successor = lab.litePullConsumer(group, c -> c.subscribe(topic, "Even"));
        Check.equal(even, sorted(poll(successor, even.size())), "messages polled by the successor");
    }

    /** Names its queues, and goes to any place in them. */
    static void assigned(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        List<String> all = send(lab.producer(), topic, "seek-", 40);
        lab.awaitStored(topic, all.size());
        String group = lab.name("G");
        DefaultLitePullConsumer consumer = lab.litePullConsumer(group, c -> c.setAutoCommit(false));
        List<MessageQueue> queues = consumer.fetchMessageQueues(topic).stream()
            .sorted(Comparator.comparingInt(MessageQueue::getQueueId)).collect(Collectors.toList());
        Check.equal(QUEUES, queues.size(), "queues of the topic");
        consumer.assign(queues);
        Check.equal(all, sorted(poll(consumer, all.size())), "messages of a new group");
        // Not earlier: what a pull under way brings would come twice.
        for (MessageQueue queue : queues) {
            consumer.seekToBegin(queue);
        }
        Check.equal(all, sorted(poll(consumer, all.size())), "messages from the beginning");

        consumer.seek(queues.get(0), 15);
        List<MessageExt> rest = poll(consumer, 5);
        Check.equal(List.of(15L, 16L, 17L, 18L, 19L), rest.stream().map(MessageExt::getQueueOffset).collect(Collectors.toList()),
            "offsets after a seek to 15");
        Check.equal(0L, consumer.offsetForTimestamp(queues.get(0), 1L), "offset by a time before all");
        consumer.commitSync(Map.of(queues.get(1), 7L), true);
        Lab.await("the committed offset", () -> lab.committed(group, queues.get(1)) == 7);
    }

    private static List<MessageExt> poll(DefaultLitePullConsumer consumer, int count) throws InterruptedException {
        List<MessageExt> got = new ArrayList<>();
        Lab.await(count + " polled messages", () -> {
            got.addAll(consumer.poll(200));
            return got.size() >= count;
        });
        return got;
    }

    private static List<String> bodies(List<MessageExt> messages) {
        return messages.stream().map(Lab::text).collect(Collectors.toList());
    }

    private static List<String> sorted(List<MessageExt> messages) {
        return messages.stream().map(Lab::text).sorted().collect(Collectors.toList());
    }

    private static boolean isEven(String body) {
        return Integer.parseInt(body.substring(body.indexOf('-') + 1)) % 2 == 0;
    }

    /** Sends by turns to every queue, and returns the bodies in the order of text. */
    private static List<String> send(DefaultMQProducer producer, String topic, String prefix, int n) throws Exception {
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            String body = prefix + (10 + i);
            Lab.sent(producer.send(Lab.message(topic, isEven(body) ? "Even" : "Odd", body),
                (queues, m, arg) -> queues.get((Integer) arg % queues.size()), i / 2));
            bodies.add(body);
        }
        return bodies;
    }
}
