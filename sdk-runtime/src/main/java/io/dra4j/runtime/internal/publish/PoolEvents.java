// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.validate.Problem;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports what keeps pools from being published: to the log, and to the event recorder.
 *
 * <p>Each thing is logged once, and again when it changes. Used only on the loop's thread.
 */
final class PoolEvents {

    private static final Logger LOG = LoggerFactory.getLogger(PoolEvents.class);
    private static final int MOST_NAMES = 5;
    private static final int MOST_PROBLEMS = 3;

    private final EventRecorder events;
    private final Map<PoolName, Map<Feature, List<DeviceName>>> leftOut = new HashMap<>();
    private final Map<PoolName, Map<Feature, List<DeviceName>>> withdrawn = new HashMap<>();
    private final Map<PoolName, Map<DeviceName, Problem>> invalid = new HashMap<>();
    private final Map<PoolName, DriverEvent> lastEvent = new HashMap<>();
    private final Set<PoolName> failing = new HashSet<>();

    PoolEvents(EventRecorder events) {
        this.events = events;
    }

    void invalid(PoolName pool, List<Problem> problems) {
        report(
                Reason.INVALID_POOL,
                pool,
                "Pool %s is not published; its last good slices stay: %s".formatted(pool, first(problems)),
                null);
    }

    private static String first(Collection<Problem> problems) {
        String first =
                problems.stream().limit(MOST_PROBLEMS).map(Problem::toString).collect(Collectors.joining("; "));
        int more = problems.size() - MOST_PROBLEMS;
        return more > 0 ? first + "; and " + more + " more" : first;
    }

    /**
     * Reports the devices of a pool that break rules of the API, while the others are published.
     *
     * @param devices the first problem of each; empty if there are none now
     */
    void invalidDevices(PoolName pool, Map<DeviceName, Problem> devices) {
        Map<DeviceName, Problem> before = invalid.getOrDefault(pool, Map.of());
        String subject = "invalid devices of pool " + pool;
        if (!devices.isEmpty()) {
            String message = "Pool %s is published without %s: %s"
                    .formatted(pool, names(List.copyOf(devices.keySet())), first(devices.values()));
            if (!devices.equals(before)) {
                LOG.atWarn().addKeyValue(LogField.POOL, pool).log(message);
            }
            events.record(new DriverEvent(Reason.INVALID_DEVICES, subject, message));
        } else if (!before.isEmpty()) {
            String message = "No device of pool " + pool + " breaks a rule of the API any more";
            LOG.atInfo().addKeyValue(LogField.POOL, pool).log(message);
            events.record(new DriverEvent(Reason.PUBLISHING_RECOVERED, subject, message));
        }
        invalid.put(pool, devices);
    }

    void failed(PoolName pool, ClusterException failure) {
        String message =
                "Pool %s could not be brought up to date; will try again: %s".formatted(pool, failure.getMessage());
        if (failure.isConflict()) {
            LOG.atInfo().addKeyValue(LogField.POOL, pool).log(message);
        } else {
            report(Reason.POOL_REJECTED, pool, message, failure);
        }
    }

    void failed(PoolName pool, RuntimeException bug) {
        report(
                Reason.UNEXPECTED_ERROR,
                pool,
                ("Pool %s could not be published, unexpectedly; will try again; please report this: %s")
                        .formatted(pool, bug),
                bug);
    }

    /** Reports that another client keeps changing or deleting slices of a pool. */
    void contested(PoolName pool) {
        report(
                Reason.SLICES_CONTESTED,
                pool,
                "Another client keeps changing or deleting the ResourceSlices of pool "
                        + pool
                        + "; they are repaired less and less often. Find the client in the API"
                        + " server's audit log; two drivers must not share a name on one node",
                null);
    }

    /** Reports slices that are neither understood nor replaced, while the inventory is unknown. */
    void unreadable(PoolName pool, List<Stored> slices) {
        report(
                Reason.INVALID_POOL,
                pool,
                ("This driver can't read the ResourceSlices %s of pool %s, so the taints of"
                                + " their devices stay as they are. If their devices must not be"
                                + " used, delete them: kubectl delete resourceslices %s")
                        .formatted(names(slices, ", "), pool, names(slices, " ")),
                null);
    }

    private static String names(List<Stored> slices, String separator) {
        return slices.stream().map(Stored::name).sorted().collect(Collectors.joining(separator));
    }

    /** Reports that devices are withdrawn, because this server keeps no taints, and their pool is unknown. */
    void withdrawnForTaints(PoolName pool) {
        LOG.atWarn()
                .addKeyValue(LogField.POOL, pool)
                .addKeyValue(LogField.FEATURE, Feature.TAINTS)
                .log("The API server does not keep taints (feature gate "
                        + Feature.TAINTS.gate().text()
                        + "): the devices that need one are withdrawn, until the driver can read its devices");
    }

    /** Reports devices that lose features that this server does not keep. */
    void leftOut(Publishable publishable) {
        PoolName pool = publishable.pool().name();
        if (!publishable.leftOut().equals(leftOut.put(pool, publishable.leftOut()))) {
            publishable.leftOut().forEach((feature, devices) -> logLeftOut(pool, feature, devices));
        }
        if (!publishable.withdrawn().isEmpty()) {
            report(Reason.DEVICES_WITHDRAWN, pool, withdrawal(pool, publishable.withdrawn()), null);
        } else if (withdrawn.getOrDefault(pool, Map.of()).isEmpty()) {
            return;
        }
        withdrawn.put(pool, publishable.withdrawn());
    }

    private static void logLeftOut(PoolName pool, Feature feature, List<DeviceName> devices) {
        LOG.atWarn()
                .addKeyValue(LogField.POOL, pool)
                .addKeyValue(LogField.DEVICE_COUNT, devices.size())
                .addKeyValue(LogField.FEATURE, feature)
                .log("Devices are published without a feature: the API server does not keep it (feature gate "
                        + feature.gate().text()
                        + ")");
    }

    private static String withdrawal(PoolName pool, Map<Feature, List<DeviceName>> withdrawn) {
        return withdrawn.entrySet().stream()
                .map(entry -> names(entry.getValue())
                        + " would lose their "
                        + entry.getKey()
                        + " (feature gate "
                        + entry.getKey().gate().text()
                        + ")")
                .collect(Collectors.joining(
                        "; ",
                        "Devices of pool " + pool + " are withdrawn: ",
                        ". The API server leaves these fields out, and without them the devices could be allocated"
                                + " wrongly; switch the gates on, or let the driver do without these fields"));
    }

    private static String names(List<DeviceName> devices) {
        String first = devices.stream().limit(MOST_NAMES).map(DeviceName::value).collect(Collectors.joining(", "));
        int more = devices.size() - MOST_NAMES;
        return more > 0 ? first + " and " + more + " more" : first;
    }

    void published(PoolName pool) {
        if (!withdrawn.getOrDefault(pool, Map.of()).isEmpty()) {
            return;
        }
        lastEvent.remove(pool);
        if (failing.remove(pool)) {
            LOG.atInfo().addKeyValue(LogField.POOL, pool).log("A pool again matches the inventory");
            events.record(new DriverEvent(
                    Reason.PUBLISHING_RECOVERED,
                    pool.value(),
                    "Pool " + pool + " is published again as the driver offers it"));
        }
    }

    void removed(PoolName pool) {
        withdrawn.remove(pool);
        leftOut.remove(pool);
        invalidDevices(pool, Map.of());
        invalid.remove(pool);
        published(pool);
    }

    private void report(Reason reason, PoolName pool, String message, @Nullable Throwable cause) {
        DriverEvent event = new DriverEvent(reason, pool.value(), message, cause);
        DriverEvent before = lastEvent.put(pool, event);
        if (before == null || !event.isSameAs(before)) {
            LOG.atWarn().addKeyValue(LogField.POOL, pool).log(message);
        }
        if (reason != Reason.SLICES_CONTESTED) {
            failing.add(pool);
        }
        events.record(event);
    }
}
