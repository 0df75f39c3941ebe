package com.github.wheelmq.proxytest;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.rocketmq.client.apis.message.MessageView;

/** Carries commands out at the same time, a thread each. */
public final class Driver {
    private static final Gson GSON = new Gson();

    private final Produce produce;
    private final Consume consume;
    private final Map<String, Closeable> clients = new ConcurrentHashMap<>();
    private final List<MessageView> received = Collections.synchronizedList(new ArrayList<>());
    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private Driver(String endpoints) {
        produce = new Produce(endpoints, this);
        consume = new Consume(endpoints, this);
    }

    public static void main(String[] args) throws Exception {
        Driver driver = new Driver(args[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ExecutorService workers = Executors.newCachedThreadPool();
        String line;
        while ((line = lines.readLine()) != null) {
            Wire.Command command = GSON.fromJson(line, Wire.Command.class);
            workers.execute(() -> driver.serve(command));
        }
        System.exit(0);
    }

    private void serve(Wire.Command c) {
        Wire.Reply reply = new Wire.Reply();
        reply.id = c.id;
        try {
            perform(c, reply);
        } catch (Throwable e) {
            reply.error = e.toString();
        }
        tell(reply);
    }

    private void perform(Wire.Command c, Wire.Reply reply) throws Exception {
        switch (c.op) {
            case "producer":
                clients.put(c.client, produce.producer(c));
                break;
            case "simple":
                clients.put(c.client, consume.simple(c));
                break;
            case "push":
                clients.put(c.client, consume.push(c));
                break;
            case "send":
                produce.send(client(c), c, reply);
                break;
            case "transaction":
                produce.transaction(client(c), c, reply);
                break;
            case "recall":
                produce.recall(client(c), c, reply);
                break;
            case "receive":
                consume.receive(client(c), c, reply);
                break;
            case "ack":
                consume.ack(client(c), received.get(c.ref));
                break;
            case "invisible":
                consume.invisible(client(c), received.get(c.ref), c);
                break;
            case "close":
                clients.get(c.client).close();
                break;
            default:
                throw new UnsupportedOperationException("this client cannot " + c.op);
        }
    }

    @SuppressWarnings("unchecked")
    private <T> T client(Wire.Command c) {
        return (T) clients.get(c.client);
    }

    /** Keeps a message for later commands, which name it by the number that this returns. */
    int keep(MessageView message) {
        synchronized (received) {
            received.add(message);
            return received.size() - 1;
        }
    }

    void tell(Wire.Reply reply) {
        synchronized (out) {
            out.print(GSON.toJson(reply) + "\n");
            out.flush();
        }
    }
}
