package com.github.wheelmq.clienttest;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** Two members of a group share the queues; when one goes, the other takes over. */
final class RebalanceScenarios {
    private static final int QUEUES = 8;

    /** How long a client waits for a connection, ms; the suite says it to every JVM. */
    private static final String CONNECT_TIMEOUT = "com.rocketmq.remoting.client.connect.timeout";

    private RebalanceScenarios() {}

    static void closed(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        Ownership survivor = start(lab.pushConsumer(group), topic, inbox.listener());
        survivor.awaitCount(QUEUES);
        DefaultMQPushConsumer leaving = lab.pushConsumer(group);
        Ownership leaver = start(leaving, topic, inbox.listener());
        leaver.awaitCount(QUEUES / 2);
        survivor.awaitCount(QUEUES / 2);
        Set<Integer> both = survivor.get().stream().filter(leaver.get()::contains).collect(Collectors.toSet());
        Check.equal(Set.of(), both, "queues owned by both members");
        List<String> bodies = send(lab, topic, "shared-");
        inbox.awaitExactly(bodies);

        long begin = System.nanoTime();
        leaving.shutdown();
        long closed = System.nanoTime();
        survivor.awaitCount(QUEUES);
        lab.note("survivor owned all queues %d ms after the shutdown began, %d ms after it ended",
            (System.nanoTime() - begin) / 1_000_000, (System.nanoTime() - closed) / 1_000_000);
        bodies.addAll(send(lab, topic, "alone-"));
        inbox.awaitExactly(bodies);
    }

    static void killed(Lab lab) throws Exception {
        String topic = lab.topic("T", QUEUES);
        String group = lab.name("G");
        Inbox inbox = new Inbox();
        Ownership survivor = start(lab.pushConsumer(group), topic, inbox.listener());
        survivor.awaitCount(QUEUES);
        Process member = spawnMember(lab.namesrv, group, topic);
        try {
            BufferedReader said = new BufferedReader(new InputStreamReader(member.getInputStream(), StandardCharsets.UTF_8));
            String line = said.readLine();
            Check.equal("OWNS " + QUEUES / 2, line, "what the other process says");
            survivor.awaitCount(QUEUES / 2);
            long begin = System.nanoTime();
            member.destroyForcibly();
            survivor.awaitCount(QUEUES);
            lab.note("survivor owned all queues %d ms after the kill", (System.nanoTime() - begin) / 1_000_000);
        } finally {
            member.destroyForcibly().waitFor();
        }
        inbox.awaitExactly(send(lab, topic, "alone-"));
    }

    private static Ownership start(DefaultMQPushConsumer consumer, String topic, MessageListenerConcurrently listener)
        throws Exception {
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(listener);
        consumer.start();
        return new Ownership(consumer, topic);
    }

    private static List<String> send(Lab lab, String topic, String prefix) throws Exception {
        DefaultMQProducer producer = lab.producer();
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < 2 * QUEUES; i++) {
            Lab.sent(producer.send(Lab.message(topic, "T", prefix + i)));
            bodies.add(prefix + i);
        }
        return bodies;
    }

    private static Process spawnMember(String namesrv, String group, String topic) throws Exception {
        return new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx128m", "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1", "-Duser.home=" + System.getProperty("user.home"), inherited(CONNECT_TIMEOUT),
            "-cp", System.getProperty("java.class.path"), Member.class.getName(), namesrv, group, topic,
            String.valueOf(QUEUES / 2), String.valueOf(ProcessHandle.current().pid()))
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** A property of this JVM as a flag of another. */
    private static String inherited(String property) {
        return "-D" + property + "=" + System.getProperty(property);
    }

    /** A group member in a process of its own, to be killed. It ends by itself when its parent goes. */
    static final class Member {
        private Member() {}

        public static void main(String[] args) {
            int exit = 0;
            try {
                own(args);
            } catch (Throwable e) {
                e.printStackTrace();
                exit = 1;
            }
            // The client's threads keep a process alive whose main thread has failed.
            Runtime.getRuntime().halt(exit);
        }

        private static void own(String[] args) throws Exception {
            DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(args[1]);
            consumer.setNamesrvAddr(args[0]);
            consumer.setMqClientApiTimeout(Lab.CALL_MILLIS);
            consumer.setInstanceName("member-" + ProcessHandle.current().pid());
            Ownership ownership = RebalanceScenarios.start(consumer, args[2], new Inbox().listener());
            int want = Integer.parseInt(args[3]);
            ownership.awaitCount(want);
            System.out.println("OWNS " + want);
            System.out.flush();
            // The process that started this one: its parent may be another one by now.
            ProcessHandle.of(Long.parseLong(args[4])).ifPresent(starter -> starter.onExit().join());
        }
    }
}
