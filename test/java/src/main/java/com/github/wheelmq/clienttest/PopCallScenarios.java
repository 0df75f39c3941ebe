package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.AckCallback;
import org.apache.rocketmq.client.consumer.AckResult;
import org.apache.rocketmq.client.consumer.AckStatus;
import org.apache.rocketmq.client.consumer.PopCallback;
import org.apache.rocketmq.client.consumer.PopResult;
import org.apache.rocketmq.client.consumer.PopStatus;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.constant.ConsumeInitMode;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.message.MessageRequestMode;
import org.apache.rocketmq.remoting.protocol.header.AckMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.ChangeInvisibleTimeRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.ExtraInfoUtil;
import org.apache.rocketmq.remoting.protocol.header.PopMessageRequestHeader;

/** The client's own calls for pop, below the push consumer. */
final class PopCallScenarios {
    private static final long CALL_MILLIS = 60_000;
    private static final long LONG_MILLIS = 120_000;

    private final Lab lab;
    private final long awhileMillis;
    private final String topic;
    private final String group;
    private final MQClientAPIImpl calls;

    private PopCallScenarios(Lab lab, long awhileMillis) throws Exception {
        this.lab = lab;
        this.awhileMillis = awhileMillis;
        topic = lab.topic("T" + awhileMillis, 1);
        group = lab.name("G" + awhileMillis);
        PopScenarios.setMode(lab, topic, group, MessageRequestMode.POP, 0);
        DefaultMQProducer producer = lab.producer();
        calls = producer.getDefaultMQProducerImpl().getMqClientFactory().getMQClientAPIImpl();
        for (int i = 0; i < 4; i++) {
            Lab.sent(producer.send(Lab.message(topic, "T", "m" + i)));
        }
    }

    /** Acknowledges, renews and lets lie: each message comes again exactly if it should, when it should. */
    static void play(Lab lab) throws Exception {
        Lab.withLead(2_000, awhile -> new PopCallScenarios(lab, awhile).play());
    }

    private boolean play() throws Exception {
        long asked = System.currentTimeMillis();
        List<MessageExt> popped = take(4, awhileMillis * 3);
        long begin = System.currentTimeMillis();
        Check.equal(List.of("m0", "m1", "m2", "m3"), popped.stream().map(Lab::text).collect(Collectors.toList()), "popped");
        Check.equal(AckStatus.OK, ack(popped.get(0)).getStatus(), "ack");
        Check.equal(AckStatus.OK, ackAll(popped.subList(1, 2)).getStatus(), "batch ack");
        AckResult changed = change(popped.get(2), awhileMillis);
        if (System.currentTimeMillis() - asked > awhileMillis * 2) {
            return false;
        }
        Check.equal(AckStatus.OK, changed.getStatus(), "change of the invisible time");
        Check.that(changed.getExtraInfo().split(" ").length == 8, "the new handle is %s", changed.getExtraInfo());

        Set<String> again = new HashSet<>();
        while (again.size() < 2) {
            for (MessageExt message : pop(32, LONG_MILLIS)) {
                long after = System.currentTimeMillis() - begin;
                long due = Lab.text(message).equals("m2") ? awhileMillis : awhileMillis * 3;
                lab.note("%s came back after %d ms", Lab.text(message), after);
                // The first handles were given a little before this began to count.
                Check.that(after >= due - 1_000, "%s came back after %d ms, due after %d", Lab.text(message), after, due);
                Check.that(again.add(Lab.text(message)), "%s came twice", Lab.text(message));
                Check.equal(1, message.getReconsumeTimes(), "reconsumeTimes of " + Lab.text(message));
                Check.equal(topic, message.getTopic(), "topic of " + Lab.text(message));
                Check.equal(AckStatus.OK, ack(message).getStatus(), "ack of what came back");
            }
            Check.that(System.currentTimeMillis() - begin < Lab.PATIENCE_MILLIS, "only %s came back", again);
        }
        Check.equal(Set.of("m2", "m3"), again, "came back");
        return true;
    }

    /**
     * In order: what was handed out blocks the rest until all of it is acknowledged or visible again, and then comes first.
     * The push consumer does not: in POP mode it hands nothing to a listener in order (5.5.0).
     */
    static void inOrder(Lab lab) throws Exception {
        new PopCallScenarios(lab, 1_000).playInOrder();
    }

    private void playInOrder() throws Exception {
        MessageQueue queue = new MessageQueue(topic, "broker-a", 0);
        for (long end = System.currentTimeMillis() + Lab.PATIENCE_MILLIS; lab.admin().maxOffset(queue) < 4;) {
            Check.that(System.currentTimeMillis() < end, "the queue has %d messages", lab.admin().maxOffset(queue));
            Thread.sleep(20);
        }
        List<MessageExt> first = inOrder("m0", "m1");
        Check.equal(List.of(), texts(pop(2, LONG_MILLIS, true)), "popped of a blocked queue");
        Check.equal(AckStatus.OK, ack(first.get(0)).getStatus(), "ack of the first");
        Check.equal(List.of(), texts(pop(2, LONG_MILLIS, true)), "popped with one acknowledged");
        Check.equal(AckStatus.OK, change(first.get(1), awhileMillis).getStatus(), "change of the invisible time");
        List<MessageExt> second = inOrder("m1", "m2");
        Check.equal(1, second.get(0).getReconsumeTimes(), "reconsumeTimes of what comes again");
        Check.equal(0, second.get(1).getReconsumeTimes(), "reconsumeTimes of what comes first");
        for (MessageExt message : second) {
            Check.equal(AckStatus.OK, ack(message).getStatus(), "ack");
        }
        inOrder("m3");
    }

    /** Pops in order until there is something, which must be those messages. */
    private List<MessageExt> inOrder(String... bodies) throws Exception {
        List<MessageExt> popped = List.of();
        for (long end = System.currentTimeMillis() + Lab.PATIENCE_MILLIS; popped.isEmpty() && System.currentTimeMillis() < end;) {
            popped = pop(2, LONG_MILLIS, true);
        }
        Check.equal(List.of(bodies), texts(popped), "popped in order");
        return popped;
    }

    private static List<String> texts(List<MessageExt> messages) {
        return messages.stream().map(Lab::text).collect(Collectors.toList());
    }

    /** Pops until there are n messages. */
    private List<MessageExt> take(int n, long invisibleMillis) throws Exception {
        List<MessageExt> popped = pop(n, invisibleMillis);
        for (long end = System.currentTimeMillis() + Lab.PATIENCE_MILLIS; popped.size() < n && System.currentTimeMillis() < end;) {
            popped = new ArrayList<>(popped);
            popped.addAll(pop(n - popped.size(), invisibleMillis));
        }
        return popped;
    }

    private List<MessageExt> pop(int n, long invisibleMillis) throws Exception {
        return pop(n, invisibleMillis, false);
    }

    private List<MessageExt> pop(int n, long invisibleMillis, boolean order) throws Exception {
        PopMessageRequestHeader header = new PopMessageRequestHeader();
        header.setConsumerGroup(group);
        header.setTopic(topic);
        header.setQueueId(-1);
        header.setMaxMsgNums(n);
        header.setInvisibleTime(invisibleMillis);
        header.setPollTime(awhileMillis);
        header.setBornTime(System.currentTimeMillis());
        header.setInitMode(ConsumeInitMode.MIN);
        header.setExpType("TAG");
        header.setExp("*");
        header.setOrder(order);
        CompletableFuture<PopResult> answer = new CompletableFuture<>();
        calls.popMessageAsync("broker-a", lab.broker, header, CALL_MILLIS, new PopCallback() {
            @Override
            public void onSuccess(PopResult result) {
                answer.complete(result);
            }

            @Override
            public void onException(Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        PopResult result = answer.get(CALL_MILLIS, TimeUnit.MILLISECONDS);
        return result.getPopStatus() == PopStatus.FOUND ? result.getMsgFoundList() : List.of();
    }

    private AckResult ack(MessageExt message) throws Exception {
        String handle = message.getProperty(MessageConst.PROPERTY_POP_CK);
        String[] parts = ExtraInfoUtil.split(handle);
        AckMessageRequestHeader header = new AckMessageRequestHeader();
        header.setConsumerGroup(group);
        header.setTopic(ExtraInfoUtil.getRealTopic(parts, topic, group));
        header.setQueueId(ExtraInfoUtil.getQueueId(parts));
        header.setOffset(ExtraInfoUtil.getQueueOffset(parts));
        header.setExtraInfo(handle);
        Answer answer = new Answer();
        calls.ackMessageAsync(lab.broker, CALL_MILLIS, answer, header);
        return answer.get();
    }

    private AckResult ackAll(List<MessageExt> messages) throws Exception {
        Answer answer = new Answer();
        calls.batchAckMessageAsync(lab.broker, CALL_MILLIS, answer, topic, group,
            messages.stream().map(m -> m.getProperty(MessageConst.PROPERTY_POP_CK)).collect(Collectors.toList()));
        return answer.get();
    }

    private AckResult change(MessageExt message, long invisibleMillis) throws Exception {
        String handle = message.getProperty(MessageConst.PROPERTY_POP_CK);
        String[] parts = ExtraInfoUtil.split(handle);
        ChangeInvisibleTimeRequestHeader header = new ChangeInvisibleTimeRequestHeader();
        header.setConsumerGroup(group);
        header.setTopic(ExtraInfoUtil.getRealTopic(parts, topic, group));
        header.setQueueId(ExtraInfoUtil.getQueueId(parts));
        header.setOffset(ExtraInfoUtil.getQueueOffset(parts));
        header.setExtraInfo(handle);
        header.setInvisibleTime(invisibleMillis);
        Answer answer = new Answer();
        calls.changeInvisibleTimeAsync("broker-a", lab.broker, header, CALL_MILLIS, answer);
        return answer.get();
    }

    private static final class Answer implements AckCallback {
        private final CompletableFuture<AckResult> result = new CompletableFuture<>();

        @Override
        public void onSuccess(AckResult ackResult) {
            result.complete(ackResult);
        }

        @Override
        public void onException(Throwable e) {
            result.completeExceptionally(e);
        }

        AckResult get() throws Exception {
            return result.get(CALL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }
}
