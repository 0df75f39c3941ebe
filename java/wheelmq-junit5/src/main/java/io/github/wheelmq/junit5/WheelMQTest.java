package io.github.wheelmq.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a WheelMQ of their own: a parameter of type {@link WheelMQ} of a test or of a
 * {@code @BeforeEach} method is the server. While it runs, the system properties {@code rocketmq.name-server} and
 * {@code rocketmq.namesrv.addr} name it, which is for classes that run one after the other: where they run at the same
 * time, {@link WheelMQ#nameServer()} does. {@code @Nested} classes share the server of the class around them.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(WheelMQExtension.class)
public @interface WheelMQTest {
    /**
     * Whether the clock of messages moves only when the test turns it.
     *
     * @return false for the machine's clock
     */
    boolean virtualClock() default false;

    /**
     * Whether a virtual clock goes on by itself to the next due instant whenever nothing is in flight.
     *
     * @return true for a virtual clock that does
     */
    boolean autoSkip() default false;

    /**
     * Topics that are there from the start.
     *
     * @return {@code name} or {@code name:queues} each
     */
    String[] topics() default {};

    /**
     * Consumer groups that are there from the start.
     *
     * @return {@code name} or {@code name:retries} each
     */
    String[] groups() default {};

    /**
     * The version of the real broker to behave like, without what WheelMQ does better.
     *
     * @return {@code 5.5.0}, or empty for all of WheelMQ
     */
    String profile() default "";

    /**
     * Keys of broker.conf.
     *
     * @return {@code key=value} each
     */
    String[] config() default {};

    /**
     * Whether each method gets a fresh server, instead of all methods of the class the same.
     *
     * @return true for a server per method
     */
    boolean perMethod() default false;
}
