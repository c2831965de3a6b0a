// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.doctor.cluster.LegacyResources;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the Node for resources of a device plugin that offers the driver's devices.
 *
 * <p>A Node that can't be read changes nothing. A driver that may have to withhold its devices writes no slice until it
 * has an answer about the Node, and withholds them if it may not read it. {@link #apply} may be called on any thread.
 */
final class LegacyPluginWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LegacyPluginWatch.class);
    private static final String SUBJECT = "legacy device plugin";

    /** The kubelet writes its Node every 5 minutes, or when it changes. */
    private static final Duration INTERVAL = Duration.ofMinutes(5);

    /** The interval while devices are withheld, or may have to be. */
    private static final Duration SOON = Duration.ofSeconds(5);

    /**
     * The number of looks in the first 10 minutes: on a new node, or after a reboot, the driver may start before the
     * plugin. They are counted because the clock of such a node may still change.
     */
    private static final int EARLY_LOOKS = (int) Duration.ofMinutes(10).dividedBy(SOON);

    private static final int TOO_MANY = 429;

    private final String driver;
    private final String node;
    private final boolean withholds;
    private final ClusterApi api;
    private final EventRecorder events;
    private final ScheduledExecutorService timer;

    private volatile boolean isHeldBack;
    private List<String> offered = List.of(); // used only by the thread that looks
    private boolean isKnown;
    private int looks;
    private int refusal;

    LegacyPluginWatch(DriverSettings settings, ClusterApi api, EventRecorder events, ScheduledExecutorService timer) {
        this.driver = settings.driverName;
        this.node = settings.nodeName;
        this.withholds = settings.withholdsBesideLegacyPlugin;
        this.api = api;
        this.events = events;
        this.timer = timer;
    }

    /**
     * Looks, and again periodically.
     *
     * @param changed called when slices have to be written: if they depend on the Node, for the first time when that is read
     *     or refused
     */
    void start(Runnable changed) {
        if (withholds) {
            look(changed);
        }
        again(changed, withholds ? next() : Duration.ZERO);
    }

    private void again(Runnable changed, Duration delay) {
        timer.schedule(
                () -> {
                    try {
                        look(changed);
                    } finally {
                        again(changed, next());
                    }
                },
                delay.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /** Returns the time to the next look; long for a driver that only warns, since each look reads a whole Node. */
    private Duration next() {
        boolean isSettled = isKnown && offered.isEmpty() && looks > EARLY_LOOKS;
        return withholds && !isSettled ? SOON : INTERVAL;
    }

    void look(Runnable changed) {
        looks++;
        try {
            ClusterApi.Answer answer = api.get("api/v1/nodes/" + node);
            if (answer.status() == 200) {
                refusal = 0;
                found(LegacyResources.offered(driver, answer.body()), changed);
            } else if (answer.status() != refusal) {
                refusal = answer.status();
                refused(answer.body().path("message").asText("no message"), changed);
            }
        } catch (NotCheckedException e) {
            LOG.atDebug().setCause(e).log("The Node can't be read; trying again");
        }
    }

    /** A server that is busy or starting may still answer; one that refuses leaves the devices hidden. */
    private void refused(String message, Runnable changed) {
        boolean hides = withholds && !isKnown && refusal / 100 == 4 && refusal != TOO_MANY;
        LOG.atWarn()
                .log(
                        "The Node {} can't be read (GET was answered {}: {}), so it is unknown whether a device plugin also offers the devices of {}.{} Trying again; the `doctor` command checks the node's name and the driver's permissions",
                        node,
                        refusal,
                        message,
                        driver,
                        withholds && !isKnown ? " No device is published until it is read." : "");
        if (hides) {
            isHeldBack = true;
            changed.run();
        }
    }

    private void found(List<String> now, Runnable changed) {
        boolean was = !offered.isEmpty();
        if (!now.isEmpty() && !now.equals(offered)) {
            report(now);
        } else if (now.isEmpty() && was) {
            LOG.atInfo().log("No device plugin offers the devices of this driver now");
            events.record(new DriverEvent(
                    Reason.PUBLISHING_RECOVERED, SUBJECT, "No device plugin offers the devices of this driver now"));
        }
        offered = List.copyOf(now);
        boolean next = withholds && !now.isEmpty();
        if (next != isHeldBack || withholds && !isKnown) {
            isHeldBack = next;
            changed.run();
        }
        isKnown = true;
    }

    private void report(List<String> now) {
        String message =
                "A device plugin also offers %s on this node, next to the driver %s: two pods can get the same device. %s Keep the plugin off the node: kubectl label node %s nvidia.com/gpu.deploy.device-plugin=false --overwrite with GPU Operator, or the node selector of its DaemonSet"
                        .formatted(
                                String.join(", ", now),
                                driver,
                                withholds
                                        ? "No device is published until the plugin is gone."
                                        : "The devices remain published.",
                                node);
        LOG.atWarn().log(message);
        events.record(new DriverEvent(Reason.LEGACY_DEVICE_PLUGIN, SUBJECT, message));
    }

    /** Returns the inventory as it is published. */
    Inventory apply(Inventory inventory) {
        return isHeldBack
                ? new Inventory(
                        inventory.pools().stream()
                                .map(LegacyPluginWatch::without)
                                .toList(),
                        inventory.leftOut())
                : inventory;
    }

    private static Pool without(Pool pool) {
        return pool.placement() instanceof Placement.PublishedElsewhere
                ? pool
                : pool.toBuilder().devices(List.of()).counterSets(List.of()).build();
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
