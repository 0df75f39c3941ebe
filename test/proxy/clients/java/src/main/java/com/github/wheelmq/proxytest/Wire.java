package com.github.wheelmq.proxytest;

import java.util.List;
import java.util.Map;

/** The lines of JSON, with the members that package clients gives them. */
final class Wire {
    private Wire() {}

    static final class Command {
        int id;
        String op;
        String client;
        String topic;
        String group;
        String filter;
        boolean sql;
        int awaitMillis;
        Message message;
        String resolution;
        String handle;
        int ref;
        int max;
        int invisibleMillis;
        int fail;
    }

    static final class Message {
        String topic;
        String body;
        String tag;
        List<String> keys;
        Map<String, String> properties;
        String group;
        long deliverAt;
        String id;
        int attempt;
        int ref;
    }

    static final class Reply {
        int id;
        String error;
        String messageId;
        String recallHandle;
        List<Message> messages;
        String event;
        String client;

        static Reply event(String event, Command command, Message message) {
            Reply reply = new Reply();
            reply.event = event;
            reply.client = command.client;
            reply.messages = List.of(message);
            return reply;
        }
    }
}
