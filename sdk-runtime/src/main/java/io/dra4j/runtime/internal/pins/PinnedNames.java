// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pins;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.pins.DevicePins.Pins;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the inventory to what may be published: each name only for the hardware that it was first published for.
 *
 * <p>A name is pinned to its device's physical id before it is published. A name that refers to other hardware by then
 * may be allocated to a claim that meant the earlier hardware, so it is withheld until its device has been out of the
 * slices for the longest time that the scheduler takes to bind a pod, and no claim refers to it. The same applies to a
 * device whose hardware is still pinned to such a name or to one that has left the inventory, and to a new name for
 * hardware that has one. Devices without physical ids are published as they are. For the one process that publishes;
 * not thread-safe.
 */
public final class PinnedNames {

    /** The scheduler's {@code bindTimeoutSeconds}: the allocation of a claim may be based on slices this old. */
    static final Duration LONGEST_BINDING = Duration.ofMinutes(10);

    private static final Logger LOG = LoggerFactory.getLogger(PinnedNames.class);
    private static final Duration READ_LIMIT = Duration.ofSeconds(30);
    private static final Duration RETRY = Duration.ofMinutes(1);
    private static final int MOST_NAMES = 5;
    private static final String TWIN = ", as is ";
    private static final String SUBJECT = "device names";

    private final String driver;
    private final DevicePins file;
    private final ClaimReader claims;
    private final EventRecorder events;
    private final Map<PooledDevice, Instant> unpublishedSince = new HashMap<>(); // of stale names
    private Set<PooledDevice> stale = Set.of();
    private Instant nextRelease = Instant.MIN;
    private @Nullable Instant nextWrite; // after a failed write
    private String reported = "";

    /**
     * Starts with the pins of the file.
     *
     * @param events is notified of withheld names, and of their end
     */
    public PinnedNames(String driver, DevicePins file, ClaimReader claims, EventRecorder events) {
        this.driver = driver;
        this.file = file;
        this.claims = claims;
        this.events = events;
    }

    /**
     * Pins new names, and returns the part of an inventory that may be published, without physical ids.
     *
     * @throws DraException if the pins can't be read
     */
    public Inventory publishable(Inventory inventory, Instant now) {
        Map<PooledDevice, String> ids = ids(inventory);
        Pins before = file.read();
        if (ids.isEmpty() && before.equals(Pins.NONE)) {
            return inventory;
        }
        Map<PooledDevice, String> pins = new TreeMap<>(known(before, ids));
        stale = stale(pins, inventory, ids);
        unpublishedSince.keySet().retainAll(stale);
        if (releaseDue().filter(due -> !due.isAfter(now)).isPresent()) {
            release(pins, ids, now);
            stale = stale(pins, inventory, ids);
        }
        Set<String> taken = new HashSet<>(pins.values());
        ids.forEach((name, id) -> pinNew(pins, name, id, taken));
        Set<PooledDevice> withheld = new TreeSet<>();
        ids.forEach((name, id) -> addIf(!id.equals(pins.get(name)), name, withheld));
        String why = reason(withheld, pins, ids);
        nextWrite = null;
        boolean isChanged = !Pins.of(pins).equals(before);
        try {
            if (isChanged) {
                file.write(Pins.of(pins));
            } else {
                file.requireDurable();
            }
        } catch (DraException e) {
            ids.keySet().forEach(name -> addIf(!isChanged || isChanged(name, before, pins), name, withheld));
            nextWrite = now.plus(RETRY);
            why = "Devices are not published: " + e.getMessage();
        }
        report(why);
        return without(inventory, withheld);
    }

    private static void addIf(boolean condition, PooledDevice name, Set<PooledDevice> names) {
        if (condition) {
            names.add(name);
        }
    }

    private static boolean isChanged(PooledDevice name, Pins before, Map<PooledDevice, String> pins) {
        return !before.id(name.pool(), name.device()).equals(Optional.ofNullable(pins.get(name)));
    }

    private static void pinNew(Map<PooledDevice, String> pins, PooledDevice name, String id, Set<String> taken) {
        if (!pins.containsKey(name) && taken.add(id)) {
            pins.put(name, id);
        }
    }

    /** The pins of a damaged file are unknown: each name may have meant anything. */
    private Map<PooledDevice, String> known(Pins before, Map<PooledDevice, String> ids) {
        if (!before.damaged()) {
            return before.ids();
        }
        file.keepDamaged();
        return ids.keySet().stream().collect(Collectors.toMap(name -> name, n -> Pins.UNKNOWN));
    }

    private static Map<PooledDevice, String> ids(Inventory inventory) {
        Map<PooledDevice, String> ids = new TreeMap<>();
        for (Pool pool : inventory.pools()) {
            for (Device device : pool.devices()) {
                String id = device.physicalId();
                if (id != null) {
                    ids.put(name(pool, device), id);
                }
            }
        }
        return ids;
    }

    /** Returns the pinned names that refer to other or missing hardware. */
    private static Set<PooledDevice> stale(
            Map<PooledDevice, String> pins, Inventory inventory, Map<PooledDevice, String> ids) {
        Set<PooledDevice> there = names(inventory);
        Set<PooledDevice> stale = new TreeSet<>();
        pins.forEach((name, id) -> {
            boolean isMoved = !ids.getOrDefault(name, id).equals(id);
            addIf(isMoved || !there.contains(name), name, stale);
        });
        return stale;
    }

    private static Set<PooledDevice> names(Inventory inventory) {
        return inventory.pools().stream()
                .flatMap(pool -> pool.devices().stream().map(device -> name(pool, device)))
                .collect(Collectors.toSet());
    }

    private static PooledDevice name(Pool pool, Device device) {
        return new PooledDevice(pool.name(), device.name());
    }

    /** Removes the pins of stale names that no claim refers to. */
    private void release(Map<PooledDevice, String> pins, Map<PooledDevice, String> ids, Instant now) {
        Set<PooledDevice> free = new TreeSet<>(unpublishedSince.keySet());
        free.removeIf(name -> unpublishedSince.get(name).plus(LONGEST_BINDING).isAfter(now));
        try {
            claims.readAll(READ_LIMIT, (ref, claim) -> removeNames(claim, free));
        } catch (ClusterException e) {
            nextRelease = now.plus(RETRY);
            LOG.atWarn().setCause(e).log("Could not list claims to publish withheld devices");
            return;
        }
        nextRelease = now.plus(LONGEST_BINDING);
        removeHeld(free, pins, ids);
        for (PooledDevice name : free) {
            String id = ids.get(name);
            LOG.atInfo().log(
                    "Device name {} no longer refers to {}; it now refers to {}",
                    name,
                    pins.get(name),
                    id == null ? "nothing" : id);
            pins.remove(name);
            unpublishedSince.remove(name);
        }
    }

    /** Removes the names whose hardware is pinned to a stale name that stays: each of them stays, and keeps the next. */
    private void removeHeld(Set<PooledDevice> free, Map<PooledDevice, String> pins, Map<PooledDevice, String> ids) {
        Map<String, List<PooledDevice>> waiting = new HashMap<>();
        for (PooledDevice name : free) {
            String id = ids.get(name);
            if (id != null) {
                waiting.computeIfAbsent(id, hardware -> new ArrayList<>()).add(name);
            }
        }
        Deque<PooledDevice> staying = new ArrayDeque<>(stale);
        staying.removeAll(free);
        while (!staying.isEmpty()) {
            List<PooledDevice> next = waiting.remove(pins.get(staying.remove()));
            if (next != null) {
                next.stream().filter(free::remove).forEach(staying::add);
            }
        }
    }

    private void removeNames(ClaimObject claim, Set<PooledDevice> names) {
        ClaimObject.Allocation allocation = claim.allocation();
        if (allocation != null) {
            Set<String> mine = new HashSet<>();
            allocation.results().stream()
                    .filter(result -> result.driver().equals(driver))
                    .forEach(result -> mine.add(result.pool() + "/" + result.device()));
            names.removeIf(name -> mine.contains(name.toString()));
        }
    }

    /**
     * Notes the slices' content after a write: a wait begins when a name is no longer in them.
     *
     * @param isPublished whether slices may have a device of that name
     */
    public void written(Predicate<PooledDevice> isPublished, Instant now) {
        for (PooledDevice name : stale) {
            if (isPublished.test(name)) {
                unpublishedSince.remove(name);
            } else {
                unpublishedSince.putIfAbsent(name, now);
            }
        }
    }

    /** Returns the time of the next step; empty if there is none. */
    public Optional<Instant> due() {
        return Stream.concat(releaseDue().stream(), Stream.ofNullable(nextWrite))
                .min(Instant::compareTo);
    }

    private Optional<Instant> releaseDue() {
        return unpublishedSince.values().stream()
                .min(Instant::compareTo)
                .map(since -> since.plus(LONGEST_BINDING))
                .map(due -> due.isAfter(nextRelease) ? due : nextRelease);
    }

    private static String reason(
            Set<PooledDevice> withheld, Map<PooledDevice, String> pins, Map<PooledDevice, String> ids) {
        if (withheld.isEmpty()) {
            return "";
        }
        String first = withheld.stream()
                .limit(MOST_NAMES)
                .map(name -> name + was(pins.get(name)) + "is " + ids.get(name) + twin(ids.get(name), pins, ids) + ")")
                .collect(Collectors.joining(", "));
        int more = withheld.size() - MOST_NAMES;
        return "Devices are not published while claims may still refer to their previous names or hardware: "
                + first
                + (more > 0 ? " and " + more + " more" : "")
                + ". They are published again when no claim refers to the names that moved, after"
                + " at least 10 minutes; delete the pods and claims that do"
                + (first.contains(TWIN) ? ". A device with the same hardware as another needs its own physicalId" : "");
    }

    /** Names the device that is published for the same hardware. */
    private static String twin(@Nullable String id, Map<PooledDevice, String> pins, Map<PooledDevice, String> ids) {
        return pins.keySet().stream()
                .filter(other -> id != null && id.equals(pins.get(other)) && id.equals(ids.get(other)))
                .findFirst()
                .map(other -> TWIN + other)
                .orElse("");
    }

    private static String was(@Nullable String id) {
        return id == null ? " (new, " : " (was " + id + ", ";
    }

    private void report(String why) {
        if (why.equals(reported)) {
            return;
        }
        reported = why;
        if (why.isEmpty()) {
            LOG.atInfo().log("All names of devices refer to the hardware that they are published for");
            events.record(new DriverEvent(
                    Reason.PUBLISHING_RECOVERED, SUBJECT, "All devices are published under their names again"));
        } else {
            LOG.atWarn().log(why);
            events.record(new DriverEvent(Reason.DEVICES_MOVED, SUBJECT, why));
        }
    }

    private static Inventory without(Inventory inventory, Set<PooledDevice> withheld) {
        return new Inventory(
                inventory.pools().stream().map(pool -> without(pool, withheld)).toList(), inventory.leftOut());
    }

    private static Pool without(Pool pool, Set<PooledDevice> withheld) {
        List<Device> devices = pool.devices().stream()
                .filter(d -> !withheld.contains(name(pool, d)))
                .map(PinnedNames::unidentified)
                .toList();
        return devices.equals(pool.devices())
                ? pool
                : pool.toBuilder().devices(devices).build();
    }

    private static Device unidentified(Device device) {
        return device.physicalId() == null
                ? device
                : device.toBuilder().physicalId(null).build();
    }
}
