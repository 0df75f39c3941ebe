package io.github.wheelmq.junit5;

import java.lang.reflect.AnnotatedElement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/**
 * Starts a WheelMQ for the tests of a class, and ends it whatever becomes of them. In a static field with
 * {@code @RegisterExtension} it is one server for the class, in another field a fresh one for each method;
 * {@link WheelMQTest} is the short form. With one such field a test may have a parameter of type {@link WheelMQ}, with
 * several it asks the fields for their {@link #server()}. When a test fails, the last exchanges between clients and server
 * and the server's warnings are printed to the standard error.
 */
public final class WheelMQExtension
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {

    /** Null: what the annotation says. */
    private final Settings given;

    private volatile WheelMQ current;

    /** For {@link WheelMQTest}, or for {@code @ExtendWith} with the settings that the builder starts from. */
    public WheelMQExtension() {
        this(null);
    }

    WheelMQExtension(Settings given) {
        this.given = given;
    }

    /**
     * What the server is started with.
     *
     * @return a builder
     */
    public static WheelMQBuilder builder() {
        return new WheelMQBuilder();
    }

    /**
     * The server that was started last.
     *
     * @return the server
     * @throws IllegalStateException when none runs
     */
    public WheelMQ server() {
        WheelMQ server = current;
        if (server == null) {
            throw new IllegalStateException("no WheelMQ runs: one does from beforeAll (static field) or beforeEach on");
        }
        return server;
    }

    /**
     * What clients set as their name server, as a method reference for Spring's {@code @DynamicPropertySource}.
     *
     * @return host:port
     * @throws IllegalStateException when no server runs
     */
    public String nameServer() {
        return server().nameServer();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (!annotation(context).map(WheelMQTest::perMethod).orElse(false)) {
            startUnlessRunning(context);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        startUnlessRunning(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        reportFailure(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        reportFailure(context);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == WheelMQ.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return running(context).map(RunningServer::server).orElseThrow(() -> new ParameterResolutionException(
            "no WheelMQ runs yet: one per method is there for the method and for @BeforeEach, not for a constructor"));
    }

    private void startUnlessRunning(ExtensionContext context) {
        if (running(context).isPresent()) {
            return;
        }
        Settings settings = given != null ? given : annotation(context).map(WheelMQExtension::settings).orElseGet(Settings::new);
        RunningServer started = RunningServer.start(settings, () -> current = null);
        // Kept there it ends after every other extension is done with it.
        store(context).put(RunningServer.class, started);
        current = started.server();
    }

    /** Here and not in a TestWatcher, which is told when the server of a method is gone. */
    private void reportFailure(ExtensionContext context) {
        boolean failed = context.getExecutionException().filter(e -> !(e instanceof TestAbortedException)).isPresent();
        if (failed) {
            running(context).ifPresent(
                running -> System.err.println(FailureReport.of(context.getDisplayName(), running.server())));
        }
    }

    private Optional<RunningServer> running(ExtensionContext context) {
        return Optional.ofNullable(store(context).get(RunningServer.class, RunningServer.class));
    }

    private ExtensionContext.Store store(ExtensionContext context) {
        return context.getStore(ExtensionContext.Namespace.create(WheelMQExtension.class, this));
    }

    /** The annotation of the test's class, or of the class around it. */
    private static Optional<WheelMQTest> annotation(ExtensionContext context) {
        for (Optional<ExtensionContext> at = Optional.of(context); at.isPresent(); at = at.get().getParent()) {
            Optional<? extends AnnotatedElement> element = at.get().getTestClass();
            Optional<WheelMQTest> found = AnnotationSupport.findAnnotation(element, WheelMQTest.class);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Settings settings(WheelMQTest annotation) {
        Settings settings = new Settings();
        settings.autoSkip = annotation.autoSkip();
        settings.virtualClock = annotation.virtualClock() || annotation.autoSkip();
        for (String topic : annotation.topics()) {
            settings.topic(topic);
        }
        for (String group : annotation.groups()) {
            settings.group(group);
        }
        if (!annotation.profile().isEmpty()) {
            settings.keys.add("profile=" + annotation.profile());
        }
        settings.keys.addAll(List.of(annotation.config()));
        return settings;
    }
}
