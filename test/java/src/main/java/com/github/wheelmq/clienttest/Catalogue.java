package com.github.wheelmq.clienttest;

import java.util.LinkedHashMap;
import java.util.Map;

/** The scenarios by suite and name. */
final class Catalogue {
    /** Scenarios that share one broker with default configuration. */
    private static final Map<String, Scenario> SHARED = new LinkedHashMap<>();

    /** Scenarios for a broker of their own, because they restart it. */
    private static final Map<String, Scenario> ALONE = new LinkedHashMap<>();

    static {
        SHARED.put("delay-levels", DelayScenarios::allLevels);
        SHARED.put("retry-dead-letter", RetryScenarios::deadLetter);
        SHARED.put("retry-reconsume-later", RetryScenarios::reconsumeLater);
        SHARED.put("rebalance-killed", RebalanceScenarios::killed);
        SHARED.put("rebalance-closed", RebalanceScenarios::closed);
        SHARED.put("send-sync", SendScenarios::sync);
        SHARED.put("send-async", SendScenarios::async);
        SHARED.put("send-oneway", SendScenarios::oneway);
        SHARED.put("send-batch", SendScenarios::batch);
        SHARED.put("send-selector", SendScenarios::selector);
        SHARED.put("send-auto-create-topic", SendScenarios::autoCreateTopic);
        SHARED.put("push-concurrent", ConsumeScenarios::concurrent);
        SHARED.put("push-orderly", ConsumeScenarios::orderly);
        SHARED.put("push-broadcast", ConsumeScenarios::broadcast);
        SHARED.put("pull", ConsumeScenarios::pull);
        SHARED.put("pull-blocking", ConsumeScenarios::pullBlocking);
        SHARED.put("filter-one-tag", FilterScenarios::oneTag);
        SHARED.put("filter-two-tags", FilterScenarios::twoTags);
        SHARED.put("filter-everything", FilterScenarios::everything);
        SHARED.put("filter-same-hash", FilterScenarios::sameHash);
        SHARED.put("filter-beyond-ascii", FilterScenarios::beyondAscii);
        SHARED.put("start-first", StartScenarios::first);
        SHARED.put("start-last", StartScenarios::last);
        SHARED.put("start-timestamp", StartScenarios::timestamp);
        SHARED.put("content-body-size", ContentScenarios::bodySize);
        SHARED.put("content-compressed", ContentScenarios::compressed);
        SHARED.put("content-unicode", ContentScenarios::unicode);
        SHARED.put("view-by-id", ContentScenarios::viewById);
        SHARED.put("query-by-key", ContentScenarios::queryByKey);
        SHARED.put("delay-none", DelayScenarios::noDelay);
        SHARED.put("delay-queue-and-order", DelayScenarios::queueAndOrder);

        SHARED.put("order-over-rebalance", OrderScenarios::overRebalance);
        SHARED.put("compressed-through-retry", CompressionScenarios::throughRetry);
        SHARED.put("namespace", NamespaceScenarios::apart);
        SHARED.put("control-reset-to-the-first", ControlScenarios::resetToTheFirst);
        SHARED.put("control-reset-to-now", ControlScenarios::resetToNow);
        SHARED.put("control-cloned", ControlScenarios::cloned);
        SHARED.put("control-relayed", ControlScenarios::relayed);
        SHARED.put("sql-stored", SqlScenarios::stored);
        SHARED.put("sql-arriving", SqlScenarios::arriving);
        SHARED.put("sql-tags-and-delay", SqlScenarios::tagsAndDelay);
        SHARED.put("sql-broken", SqlScenarios::broken);
        SHARED.put("request-answered", RequestScenarios::answered);
        SHARED.put("request-called", RequestScenarios::called);
        SHARED.put("request-unanswered", RequestScenarios::unanswered);
        SHARED.put("transaction-decided", TransactionScenarios::decided);
        SHARED.put("transaction-asked-back", TransactionScenarios::askedBack);
        SHARED.put("transaction-asked-of-another", TransactionScenarios::askedOfAnother);
        SHARED.put("transaction-compressed", TransactionScenarios::compressed);
        SHARED.put("lite-pull-subscribed", LitePullScenarios::subscribed);
        SHARED.put("lite-pull-assigned", LitePullScenarios::assigned);
        SHARED.put("trace", TraceScenarios::sentAndConsumed);

        ALONE.put("restart", RestartScenarios::restart);
        addSince5();
    }

    private Catalogue() {}

    /** The scenarios of suite {@code shared} or {@code alone}, in the order to start them in; may be changed. */
    static Map<String, Scenario> suite(String name) {
        return new LinkedHashMap<>(name.equals("alone") ? ALONE : SHARED);
    }

    /** Adds {@link Since5}, which is not there when the sources were compiled against an older client. */
    private static void addSince5() {
        try {
            ((Addition) Class.forName("com.github.wheelmq.clienttest.Since5").getDeclaredConstructor().newInstance()).to(SHARED);
        } catch (ClassNotFoundException older) {
            // The client cannot do what these scenarios need.
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("scenarios of 5.x", e);
        }
    }

    /** Scenarios that only some clients can play. */
    interface Addition {
        void to(Map<String, Scenario> shared);
    }
}
