package com.github.wheelmq.clienttest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends synchronously from many threads and prints one line: {@code messages nanos p50micros
 * p99micros}. Arguments: name-server address, topic, threads, messages. A first quarter as many
 * messages warms the client up; {@code READY} is printed, a line on standard input starts the
 * measured part.
 */
public final class SyncSend {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[2]);
        int messages = Integer.parseInt(args[3]);
        DefaultMQProducer producer = new DefaultMQProducer("BenchJava");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(30_000);
        producer.start();
        send(producer, args[1], threads, messages / 4);
        System.out.println("READY");
        System.in.read();
        long start = System.nanoTime();
        long[] latencies = send(producer, args[1], threads, messages);
        long nanos = System.nanoTime() - start;
        Arrays.sort(latencies);
        System.out.println(messages + " " + nanos + " " + latencies[latencies.length / 2] / 1000 + " "
                + latencies[(int) (latencies.length * 0.99)] / 1000);
        System.in.read();
        producer.shutdown();
        System.exit(0);
    }

    private static long[] send(DefaultMQProducer producer, String topic, int threads, int messages)
            throws InterruptedException {
        byte[] body = "x".repeat(128).getBytes(StandardCharsets.UTF_8);
        AtomicLong next = new AtomicLong();
        long[][] latencies = new long[threads][];
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int slot = i;
            workers[i] = new Thread(() -> latencies[slot] = worker(producer, topic, body, next, messages));
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        return Arrays.stream(latencies).flatMapToLong(LongStream::of).toArray();
    }

    private static long[] worker(
            DefaultMQProducer producer, String topic, byte[] body, AtomicLong next, int messages) {
        LongStream.Builder taken = LongStream.builder();
        while (next.getAndIncrement() < messages) {
            long start = System.nanoTime();
            try {
                producer.send(new Message(topic, "TagA", body));
            } catch (Exception e) {
                System.err.println(e);
                System.exit(1);
            }
            taken.add(System.nanoTime() - start);
        }
        return taken.build().toArray();
    }

    private SyncSend() {}
}
