package com.github.wheelmq.clienttest;

/** One thing a user does with the client. It fails by throwing. */
@FunctionalInterface
interface Scenario {
    void play(Lab lab) throws Exception;
}
