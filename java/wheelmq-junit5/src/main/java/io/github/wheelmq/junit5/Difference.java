package io.github.wheelmq.junit5;

/** Something that clients relied on and the real broker lacks. */
public final class Difference {
    private String name;
    private long count;
    private String real;
    private String ours;

    private Difference() {
    }

    /**
     * Its name, as in the list of WheelMQ's documentation.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * How often clients relied on it.
     *
     * @return the number
     */
    public long count() {
        return count;
    }

    /**
     * What the real broker 5.5.0 does.
     *
     * @return a sentence
     */
    public String real() {
        return real;
    }

    /**
     * What WheelMQ does.
     *
     * @return a sentence
     */
    public String ours() {
        return ours;
    }

    @Override
    public String toString() {
        return name + " (" + count + " times): here " + ours + "; the real broker " + real;
    }
}
