package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProcessTest {
    @Test
    void twoServersAtTheSameTime_knowNothingOfEachOther() {
        CompletableFuture<WheelMQ> other = CompletableFuture.supplyAsync(() -> WheelMQ.builder().start());
        try (WheelMQ one = WheelMQ.builder().start(); WheelMQ two = other.join()) {
            assertNotEquals(one.nameServer(), two.nameServer());
            assertNotEquals(one.broker(), two.broker());
            one.produce("t", "in one");
            two.produce("t", "in two");
            assertEquals("in one", one.messages("t").get(0).text());
            assertEquals("in two", two.messages("t").get(0).text());
            assertEquals(1, one.messages("t").size());
        }
    }

    @Test
    void close_endsTheProcessAndMayBeRepeated() {
        Stopwatch watch = new Stopwatch();
        WheelMQ mq = WheelMQ.builder().start();
        watch.print("a start");
        ProcessHandle process = ProcessHandle.of(mq.process().pid()).orElseThrow();
        assertTrue(process.isAlive());
        mq.close();
        assertFalse(process.isAlive());
        mq.close();
    }

    @Test
    void server_endsWithTheJvmThatStartedIt() throws Exception {
        String classpath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process jvm = new ProcessBuilder(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", "-cp", classpath, Halting.class.getName())).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        long pid = Long.parseLong(new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim());
        assertTrue(jvm.waitFor(30, TimeUnit.SECONDS));
        ProcessHandle.of(pid).ifPresent(server -> server.onExit().orTimeout(30, TimeUnit.SECONDS).join());
    }

    /** A JVM that ends without any of its hooks. */
    static final class Halting {
        private Halting() {
        }

        public static void main(String[] args) throws IOException {
            WheelMQ mq = WheelMQ.builder().start();
            System.out.println(mq.process().pid());
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }
}
