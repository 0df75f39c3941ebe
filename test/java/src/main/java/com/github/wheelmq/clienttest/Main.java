package com.github.wheelmq.clienttest;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Plays scenarios at the same time against one server and prints a line for each: {@code PLAN name},
 * then {@code PASS name millis}, {@code FAIL name: reason} and {@code NOTE name: text}; at the end
 * {@code N passed, N failed}.
 *
 * <p>Arguments: suite, name-server address, broker address, and a pattern of names to play.
 */
public final class Main {
    /** How many scenarios play at once; most of them wait most of the time. */
    private static final int AT_ONCE = 10;

    private Main() {}

    public static void main(String[] args) throws Exception {
        // The client prints warnings of its own; standard output belongs to the report.
        System.setOut(System.err);
        Map<String, Scenario> suite = Catalogue.suite(args[0]);
        Pattern chosen = Pattern.compile(args.length > 3 ? args[3] : ".*");
        suite.keySet().removeIf(name -> !chosen.matcher(name).find());
        suite.keySet().forEach(name -> Report.line("PLAN " + name));

        DefaultMQAdminExt admin = new DefaultMQAdminExt((long) Lab.CALL_MILLIS);
        admin.setNamesrvAddr(args[1]);
        admin.setMqClientApiTimeout(Lab.CALL_MILLIS);
        admin.setInstanceName("lab-admin");
        admin.start();
        AtomicInteger failed = new AtomicInteger();
        playAll(suite, args, admin, failed);
        Report.line("%d passed, %d failed", suite.size() - failed.get(), failed.get());
        // Not System.exit with open clients: their shutdown hooks would write offsets for seconds.
        Runtime.getRuntime().halt(failed.get() == 0 ? 0 : 1);
    }

    private static void playAll(Map<String, Scenario> suite, String[] args, DefaultMQAdminExt admin, AtomicInteger failed)
        throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
        suite.forEach((name, scenario) -> pool.execute(() -> {
            if (!play(name, scenario, new Lab(name, args[1], args[2], admin))) {
                failed.incrementAndGet();
            }
        }));
        pool.shutdown();
        pool.awaitTermination(18, TimeUnit.MINUTES);
    }

    private static boolean play(String name, Scenario scenario, Lab lab) {
        long begin = System.nanoTime();
        boolean passed = false;
        try (lab) {
            scenario.play(lab);
            passed = true;
            Report.line("PASS %s %d", name, (System.nanoTime() - begin) / 1_000_000);
        } catch (Throwable e) {
            Report.line("FAIL %s: %s", name, describe(e));
        }
        lab.notes().forEach(note -> Report.line("NOTE %s: %s", name, note));
        return passed;
    }

    private static String describe(Throwable e) {
        if (e instanceof AssertionError) {
            return e.getMessage();
        }
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }
}
