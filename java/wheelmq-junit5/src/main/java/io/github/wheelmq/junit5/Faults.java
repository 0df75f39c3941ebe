package io.github.wheelmq.junit5;

/** The fault rules of a server. They stay over restarts and go with a reset. */
public final class Faults {
    private final TestApi api;

    Faults(TestApi api) {
        this.api = api;
    }

    /**
     * Puts a rule in force.
     *
     * @param fault the rule
     * @return the rule in force, to ask and to remove
     */
    public ActiveFault add(Fault fault) {
        return new ActiveFault(api, api.post("/test/faults", fault.json(), ActiveFault.State.class).id);
    }

    /** Removes every rule. */
    public void clear() {
        api.delete("/test/faults");
    }
}
