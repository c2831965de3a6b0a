// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/**
 * A driver that runs in this JVM, one for each place.
 *
 * <p>It has no separate process, so requirements that stop, kill or restart a driver are not checked.
 */
public final class InProcessDriver implements DriverAdapter {

    /** Starts a driver. */
    public interface Starter {
        /** Starts a driver at a place; closing the result stops it. */
        AutoCloseable start(Place place) throws Exception;
    }

    /** Not in the drivers: the shutdown hook would keep them in memory. */
    private static final Queue<Place> PLACES = new ConcurrentLinkedQueue<>();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> PLACES.forEach(Place::remove), "dra4j-place-removal"));
    }

    private final Starter starter;
    private final Predicate<String> changesNothing;

    /** Runs the drivers that a function starts. */
    public InProcessDriver(Starter starter) {
        this(starter, uid -> false);
    }

    /**
     * Runs the drivers that a function starts.
     *
     * @param changesNothing returns what {@link #changesNothing} does
     */
    public InProcessDriver(Starter starter, Predicate<String> changesNothing) {
        this.starter = starter;
        this.changesNothing = changesNothing;
    }

    /** Makes a place that is also removed when the JVM exits, for example when a test is aborted. */
    @Override
    public Place place(String node, String driver) {
        Place place = DriverAdapter.super.place(node, driver);
        PLACES.add(place);
        return place;
    }

    @Override
    public boolean controlsProcess() {
        return false;
    }

    @Override
    public boolean changesNothing(String claimUid) {
        return changesNothing.test(claimUid);
    }

    @Override
    public Duration startTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    public Instance start(Place place, Map<String, String> more) {
        if (!more.isEmpty()) {
            throw new DriverUnusable("A driver in this JVM has no separate environment: " + more);
        }
        try {
            return new Running(starter.start(place));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new DriverUnusable("Can't start the driver: " + e);
        }
    }

    private static final class Running implements Instance {
        private final AutoCloseable driver;
        private volatile boolean ended;

        Running(AutoCloseable driver) {
            this.driver = driver;
        }

        @Override
        public boolean isAlive() {
            return !ended;
        }

        @Override
        public void terminate() {
            try {
                driver.close();
            } catch (Exception e) {
                throw new IllegalStateException("Can't stop the driver", e);
            }
            ended = true;
        }

        @Override
        public void kill() {
            terminate(); // nothing may remain in this JVM
        }

        @Override
        public OptionalInt awaitExit(Duration timeout) {
            return ended ? OptionalInt.of(0) : OptionalInt.empty();
        }
    }
}
