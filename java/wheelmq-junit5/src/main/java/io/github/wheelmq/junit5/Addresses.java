package io.github.wheelmq.junit5;

import java.net.URI;

/** What a server has written into its ready file. */
final class Addresses {
    String nameServer;
    String broker;
    String http;

    URI http() {
        return URI.create("http://" + http);
    }
}
