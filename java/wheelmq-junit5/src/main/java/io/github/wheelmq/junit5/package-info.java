/**
 * A WheelMQ server for the tests of a class or of a method: {@link io.github.wheelmq.junit5.WheelMQTest} or
 * {@link io.github.wheelmq.junit5.WheelMQExtension} starts it, {@link io.github.wheelmq.junit5.WheelMQ} is what a
 * test has in its hands. Unless a method says otherwise, what fails throws
 * {@link io.github.wheelmq.junit5.WheelMQException}.
 */
package io.github.wheelmq.junit5;
