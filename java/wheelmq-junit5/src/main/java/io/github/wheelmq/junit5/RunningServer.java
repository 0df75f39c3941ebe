package io.github.wheelmq.junit5;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/**
 * A server in the store of a test context, which closes it, and the system properties that name it. JUnit 5.13 and later
 * close every AutoCloseable in a store and deprecate CloseableResource, earlier ones know nothing else.
 */
@SuppressWarnings("deprecation")
final class RunningServer implements CloseableResource, AutoCloseable {
    /** Read by rocketmq-spring, and by clients that are given no name server. */
    private static final String[] PROPERTIES = {"rocketmq.name-server", "rocketmq.namesrv.addr"};

    private final WheelMQ server;
    private final Runnable onClose;
    private final Map<String, String> before = new HashMap<>();

    private RunningServer(WheelMQ server, Runnable onClose) {
        this.server = server;
        this.onClose = onClose;
    }

    static RunningServer start(Settings settings, Runnable onClose) {
        RunningServer running = new RunningServer(WheelMQ.start(settings), onClose);
        if (settings.systemProperties) {
            running.setProperties();
        }
        return running;
    }

    WheelMQ server() {
        return server;
    }

    private void setProperties() {
        for (String name : PROPERTIES) {
            before.put(name, System.setProperty(name, server.nameServer()));
        }
    }

    @Override
    public void close() {
        before.forEach((name, value) -> {
            if (value == null) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, value);
            }
        });
        onClose.run();
        server.close();
    }
}
