package com.github.wheelmq.proxytest;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Map;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.message.MessageBuilder;
import org.apache.rocketmq.client.apis.message.MessageView;

/** Messages between the client's classes and the lines. */
final class Messages {
    private Messages() {}

    static Message outgoing(Wire.Message m) {
        MessageBuilder out = ClientServiceProvider.loadService().newMessageBuilder()
            .setTopic(m.topic).setBody(m.body.getBytes(StandardCharsets.UTF_8));
        if (m.tag != null) {
            out.setTag(m.tag);
        }
        if (m.keys != null) {
            out.setKeys(m.keys.toArray(new String[0]));
        }
        if (m.group != null) {
            out.setMessageGroup(m.group);
        }
        if (m.deliverAt != 0) {
            out.setDeliveryTimestamp(m.deliverAt);
        }
        if (m.properties != null) {
            for (Map.Entry<String, String> e : m.properties.entrySet()) {
                out.addProperty(e.getKey(), e.getValue());
            }
        }
        return out.build();
    }

    static Wire.Message incoming(MessageView m, int ref) {
        Wire.Message in = new Wire.Message();
        in.ref = ref;
        in.id = m.getMessageId().toString();
        in.topic = m.getTopic();
        in.body = StandardCharsets.UTF_8.decode(m.getBody()).toString();
        in.tag = m.getTag().orElse("");
        in.keys = new ArrayList<>(m.getKeys());
        in.properties = m.getProperties();
        in.group = m.getMessageGroup().orElse("");
        in.deliverAt = m.getDeliveryTimestamp().orElse(0L);
        in.attempt = m.getDeliveryAttempt();
        return in;
    }
}
