package com.github.wheelmq.clienttest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.RequestTimeoutException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.RequestCallback;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Requests: a message whose sender waits for the answer of whoever consumes it. */
final class RequestScenarios {
    private static final long TIMEOUT_MILLIS = 60_000;

    private RequestScenarios() {}

    /** The answer comes back to the caller, from several callers at once, each its own. */
    static void answered(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        startAnswering(lab, topic);
        List<Thread> callers = new ArrayList<>();
        BlockingQueue<String> faults = new LinkedBlockingQueue<>();
        for (int i = 0; i < 3; i++) {
            DefaultMQProducer producer = lab.producer();
            int caller = i;
            Thread thread = new Thread(() -> {
                for (int n = 0; n < 5; n++) {
                    String question = caller + "-" + n;
                    try {
                        Message answer = producer.request(Lab.message(topic, "T", question), TIMEOUT_MILLIS);
                        if (!Lab.text(answer).equals("answer to " + question) || !"yes".equals(answer.getUserProperty("answered"))) {
                            faults.add(question + " was answered with " + Lab.text(answer));
                        }
                    } catch (Exception e) {
                        faults.add(question + ": " + e);
                    }
                }
            });
            thread.start();
            callers.add(thread);
        }
        for (Thread caller : callers) {
            caller.join();
        }
        Check.equal(List.of(), new ArrayList<>(faults), "faults");
    }

    /** The answer comes to a callback; a large one, which the client compresses, comes whole. */
    static void called(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        startAnswering(lab, topic);
        DefaultMQProducer producer = lab.producer();
        BlockingQueue<Object> outcomes = new LinkedBlockingQueue<>();
        producer.request(Lab.message(topic, "T", "large"), new RequestCallback() {
            @Override
            public void onSuccess(Message answer) {
                outcomes.add(answer);
            }

            @Override
            public void onException(Throwable e) {
                outcomes.add(e);
            }
        }, TIMEOUT_MILLIS);
        Object outcome = outcomes.poll(Lab.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        Check.that(outcome instanceof Message, "the callback got %s", outcome);
        Check.that(Arrays.equals(large(), ((Message) outcome).getBody()), "the large answer came back changed");
    }

    /** Nobody answers: the caller gives up at its time. */
    static void unanswered(Lab lab) throws Exception {
        String topic = lab.topic("T", 1);
        DefaultMQProducer producer = lab.producer();
        Check.fails(RequestTimeoutException.class, "a request that nobody consumes",
            () -> producer.request(Lab.message(topic, "T", "anybody?"), 5_000));
        lab.awaitStored(topic, 1);
    }

    private static void startAnswering(Lab lab, String topic) throws Exception {
        DefaultMQProducer replier = lab.producer(p -> p.setProducerGroup(lab.name("R")));
        DefaultMQPushConsumer consumer = lab.pushConsumer(lab.name("G"));
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt question : messages) {
                answer(replier, question);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
    }

    private static void answer(DefaultMQProducer replier, MessageExt question) {
        try {
            byte[] body = Lab.text(question).equals("large") ? large() : ("answer to " + Lab.text(question)).getBytes();
            Message answer = MessageUtil.createReplyMessage(question, body);
            answer.putUserProperty("answered", "yes");
            Lab.sent(replier.send(answer, TIMEOUT_MILLIS));
        } catch (Exception e) {
            throw new IllegalStateException("answer", e);
        }
    }

    private static byte[] large() {
        return "a long story ".repeat(10_000).getBytes();
    }
}
