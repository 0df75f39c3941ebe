package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageExt;

/** Applications of several instances that use the same names: the client puts INSTANCE% before them. */
final class NamespaceScenarios {
    private NamespaceScenarios() {}

    /** Two instances with one topic and one group name: neither sees what is the other's, retries included. */
    @SuppressWarnings("deprecation")
    static void apart(Lab lab) throws Exception {
        List<String> instances = List.of("MQ_INST_1", "MQ_INST_2");
        String topic = lab.name("T");
        String group = lab.name("G");
        List<Inbox> inboxes = new ArrayList<>();
        List<DefaultMQProducer> producers = new ArrayList<>();
        for (String instance : instances) {
            lab.topicNamed(instance + "%" + topic, 2);
            Inbox inbox = new Inbox();
            inboxes.add(inbox);
            DefaultMQPushConsumer consumer = lab.pushConsumer(group);
            consumer.setNamespace(instance);
            consumer.setPollNameServerInterval(1_000);
            consumer.subscribe(topic, "*");
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                messages.forEach(inbox::add);
                context.setDelayLevelWhenNextConsume(1);
                boolean refused = messages.get(0).getReconsumeTimes() == 0 && Lab.text(messages.get(0)).endsWith("again");
                return refused ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            consumer.start();
            producers.add(lab.producer(p -> p.setNamespace(instance)));
        }
        for (int i = 0; i < instances.size(); i++) {
            for (String what : List.of("once", "again")) {
                Lab.sent(producers.get(i).send(Lab.message(topic, "T", i + " " + what)));
            }
        }
        for (int i = 0; i < instances.size(); i++) {
            inboxes.get(i).await("both messages and a retry", list -> list.size() >= 3);
            Check.equal(Set.of(i + " once", i + " again"), new HashSet<>(inboxes.get(i).bodies()), "messages of instance " + i);
            for (Inbox.Arrival arrival : inboxes.get(i).all()) {
                MessageExt message = arrival.message;
                Check.equal(topic, message.getTopic(), "topic shown to the listener");
                Check.equal(arrival.body().endsWith("again") ? 2L : 1L, inboxes.get(i).all().stream()
                    .filter(a -> a.body().equals(arrival.body())).count(), "attempts on " + arrival.body());
            }
            lab.awaitStored("%RETRY%" + instances.get(i) + "%" + group, 1);
        }
        lab.awaitStored(instances.get(0) + "%" + topic, 2);
    }
}
