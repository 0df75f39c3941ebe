package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** Runs small test classes and looks at what the extension did with their servers. */
class ExtensionTest {
    /** Servers that the classes below were given, in order. */
    private static final List<WheelMQ> GIVEN = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void clear() {
        GIVEN.clear();
    }

    @Test
    void annotation_startsOneServerForTheClassAndThoseInIt() {
        run(PerClass.class).assertStatistics(events -> events.succeeded(3));
        assertEquals(4, GIVEN.size());
        assertEquals(1, Set.copyOf(GIVEN).size());
        assertNoneIsLeft();
    }

    @Test
    void annotationPerMethod_startsAFreshServerForEach() {
        run(PerMethod.class).assertStatistics(events -> events.succeeded(2));
        assertEquals(2, Set.copyOf(GIVEN).size());
        assertNoneIsLeft();
    }

    @Test
    void field_decidesByBeingStatic() {
        run(Fields.class).assertStatistics(events -> events.succeeded(2));
        assertSame(GIVEN.get(0), GIVEN.get(2));
        assertNotEquals(GIVEN.get(1).http(), GIVEN.get(3).http());
        assertNoneIsLeft();
    }

    @Test
    void failure_printsExchangesAndWarningsAndLeavesNoProcess() {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            run(Failing.class).assertStatistics(events -> events.failed(1).aborted(1));
        } finally {
            System.setErr(before);
        }
        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("WheelMQ when \"fails()\" failed") || text.contains("WheelMQ when \"fails(WheelMQ)\" failed"), text);
        assertTrue(text.contains("TEST API IS ON"), text);
        assertFalse(text.contains("\"skips"), text);
        assertNoneIsLeft();
    }

    @Test
    void systemProperties_areAsBefore() {
        System.setProperty("rocketmq.name-server", "mine");
        try {
            run(PerMethod.class).assertStatistics(events -> events.succeeded(2));
            assertEquals("mine", System.getProperty("rocketmq.name-server"));
            assertEquals(null, System.getProperty("rocketmq.namesrv.addr"));
        } finally {
            System.clearProperty("rocketmq.name-server");
        }
    }

    @Test
    void differences_areLoggedAtTheEnd() {
        List<String> logged = Collections.synchronizedList(new ArrayList<>());
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord line) {
                logged.add(new SimpleFormatter().formatMessage(line));
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        };
        Logger log = Logger.getLogger(WheelMQ.class.getName());
        log.addHandler(handler);
        try {
            run(NewGroup.class).assertStatistics(events -> events.succeeded(1));
        } finally {
            log.removeHandler(handler);
        }
        assertTrue(logged.stream().anyMatch(line -> line.startsWith("relied on retry-route-at-first-query")), logged.toString());
    }

    @Test
    void server_isAnErrorWhenNoneRuns() {
        assertThrows(IllegalStateException.class, () -> WheelMQExtension.builder().build().server());
    }

    private static Events run(Class<?> test) {
        return EngineTestKit.engine("junit-jupiter").selectors(selectClass(test)).execute().testEvents();
    }

    private static void assertNoneIsLeft() {
        List<Long> left = GIVEN.stream().map(mq -> mq.process().pid())
            .filter(pid -> ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)).collect(Collectors.toList());
        assertEquals(List.of(), left);
    }

    @WheelMQTest(topics = "t:1")
    static class PerClass {
        @BeforeAll
        static void given(WheelMQ mq) {
            GIVEN.add(mq);
        }

        @Test
        void one(WheelMQ mq) {
            GIVEN.add(mq);
        }

        @Test
        void two(WheelMQ mq) {
            GIVEN.add(mq);
        }

        @Nested
        class Inside {
            @Test
            void three(WheelMQ mq) {
                GIVEN.add(mq);
            }
        }
    }

    @WheelMQTest(perMethod = true)
    static class PerMethod {
        @Test
        void one(WheelMQ mq) {
            use(mq);
        }

        @Test
        void two(WheelMQ mq) {
            use(mq);
        }

        private static void use(WheelMQ mq) {
            GIVEN.add(mq);
            assertEquals(0, mq.produce("t", "x").queueOffset());
        }
    }

    static class Fields {
        @RegisterExtension
        static final WheelMQExtension SHARED = WheelMQExtension.builder().build();

        @RegisterExtension
        final WheelMQExtension own = WheelMQExtension.builder().withoutSystemProperties().virtualClock().build();

        @Test
        void one() {
            use();
        }

        @Test
        void two() {
            use();
        }

        private void use() {
            GIVEN.add(SHARED.server());
            GIVEN.add(own.server());
            assertEquals(SHARED.nameServer(), System.getProperty("rocketmq.name-server"));
            assertTrue(own.server().clock().state().virtual());
            assertFalse(SHARED.server().clock().state().virtual());
        }
    }

    @WheelMQTest(topics = "t:1")
    static class NewGroup {
        @Test
        void consumes(WheelMQ mq) throws Exception {
            GIVEN.add(mq);
            try (Clients clients = new Clients()) {
                clients.consumer(mq.nameServer(), "newcomers", "t", message -> true);
            }
        }
    }

    @WheelMQTest(topics = "t:1")
    static class Failing {
        @Test
        void fails(WheelMQ mq) {
            GIVEN.add(mq);
            fail("on purpose");
        }

        @Test
        void skips(WheelMQ mq) {
            GIVEN.add(mq);
            assumeTrue(false);
        }
    }
}
