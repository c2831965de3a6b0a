// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Looks each second whether admins changed their minds about the devices, and publishes that. */
final class PolicyLoop implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PolicyLoop.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final DevicePolicies policies;
    private final SlicePublisher publisher;
    private final RunningMaintenance maintenance;
    private final Supplier<List<HeldClaim>> held;
    private String failure = ""; // of the timer's thread

    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(ShortLivedThreads.named("dra4j-policy"));

    PolicyLoop(
            DevicePolicies policies,
            SlicePublisher publisher,
            RunningMaintenance maintenance,
            Supplier<List<HeldClaim>> held,
            Meters meters) {
        this.policies = policies;
        this.publisher = publisher;
        this.maintenance = maintenance;
        this.held = held;
        meters.watch(
                Metric.EXCLUDED_DEVICES,
                () -> publisher.lastInventory().map(policies::excluded).orElse(0L));
        meters.watch(
                Metric.MAINTAINED_DEVICES,
                () -> publisher
                        .lastInventory()
                        .map(policies::maintained)
                        .orElseGet(() -> policies.maintained(publisher.storedDevices())));
    }

    /** Checks the policy with the first inventory, and looks for changes from now on. */
    void start() {
        publisher.lastInventory().ifPresent(policies::check);
        timer.scheduleWithFixedDelay(this::look, INTERVAL.toMillis(), INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void look() {
        try {
            if (policies.reload(publisher.lastInventory().orElse(null))) {
                publisher.taintsChanged();
            }
            maintenance.look(publisher, held);
            failure = "";
        } catch (Exception e) { // also of a provider; the next look may be better
            String now = String.valueOf(e);
            LOG.atLevel(now.equals(failure) ? Level.DEBUG : Level.ERROR)
                    .setCause(e)
                    .log("A device policy or maintenance can't be followed; trying again");
            failure = now;
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
