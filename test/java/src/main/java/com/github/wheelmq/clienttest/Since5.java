package com.github.wheelmq.clienttest;

import java.util.Map;
import org.apache.rocketmq.client.producer.SendResult;

/** Scenarios of what came into the client with 5.x. */
final class Since5 implements Catalogue.Addition {
    @Override
    public void to(Map<String, Scenario> shared) {
        shared.put("timer-delivery", TimerScenarios::delivery);
        shared.put("timer-limits", TimerScenarios::limits);
        shared.put("timer-recall", TimerScenarios::recall);
        shared.put("timer-retried", TimerScenarios::retried);
        shared.put("heartbeat-v2", HeartbeatScenarios::changingSubscriptions);
        shared.put("pop-shared", PopScenarios::shared);
        shared.put("pop-shared-by-two", PopScenarios::sharedByTwo);
        shared.put("pop-refused", PopScenarios::refused);
        shared.put("pop-calls", PopCallScenarios::play);
        shared.put("pop-calls-in-order", PopCallScenarios::inOrder);
        shared.put("assigned-by-the-broker", PopScenarios::assigned);
        shared.put("query-in-cluster", Since5::queryInCluster);
    }

    /** Looks a message up by the client's id with the call that names a cluster. */
    private static void queryInCluster(Lab lab) throws Exception {
        String topic = lab.topic("T", 2);
        SendResult sent = Lab.sent(lab.producer().send(Lab.message(topic, "Q", "here")));
        // The real broker builds its index a little later.
        Lab.await("the message is found", () -> isFound(lab, topic, sent.getMsgId()));
    }

    private static boolean isFound(Lab lab, String topic, String id) {
        try {
            return "here".equals(Lab.text(lab.admin().queryMessage("DefaultCluster", topic, id)));
        } catch (Exception notYet) {
            return false;
        }
    }
}
