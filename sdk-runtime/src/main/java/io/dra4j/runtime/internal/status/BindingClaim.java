// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.Silence;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A claim with devices of this driver and node that have binding conditions; used only on the loop's thread. */
final class BindingClaim {

    private final ClaimRef ref;
    private final String driver;
    private final List<Device> devices;
    private List<String> applied;
    private @Nullable Instant checked;
    private @Nullable Instant failed;
    private Duration wait = Duration.ZERO; // since then

    private BindingClaim(ClaimRef ref, String driver, List<Device> devices) {
        this.ref = ref;
        this.driver = driver;
        this.devices = devices;
        this.applied = entries();
    }

    /** A device, and those of its binding conditions that are set, as JSON. */
    record Device(PendingDevice awaited, ArrayNode conditions) {

        /** Returns whether the scheduler has nothing more to wait for. */
        boolean isSettled() {
            BindingConditions binding = awaited.binding();
            return binding.failureConditions().stream().anyMatch(this::holds)
                    || binding.conditions().stream().allMatch(this::holds);
        }

        private boolean holds(String type) {
            return find(type)
                    .filter(c -> c.path("status").asText().equals("True"))
                    .isPresent();
        }

        private Optional<JsonNode> find(String type) {
            return conditions
                    .valueStream()
                    .filter(condition -> condition.path("type").asText().equals(type))
                    .findFirst();
        }

        /** Sets conditions; those that are unchanged keep their times. */
        void set(List<Condition> changed, Instant now) {
            for (Condition condition : changed) {
                ObjectNode next = ReportJson.condition(condition, conditions, now);
                conditions.removeIf(c -> c.path("type").equals(next.path("type")));
                conditions.add(next);
            }
        }
    }

    /**
     * Reads a claim.
     *
     * @param isOwnPool whether a pool's devices are bound on this node
     * @return empty if there is nothing to bind in it
     */
    static Optional<BindingClaim> read(String json, String driver, Predicate<PoolName> isOwnPool) {
        if (!json.contains("bindingConditions")) {
            return Optional.empty(); // most claims of a cluster
        }
        JsonNode claim = ReportJson.claim(json);
        JsonNode metadata = claim.path("metadata");
        ClaimRef ref = new ClaimRef(
                metadata.path("namespace").asText(),
                metadata.path("name").asText(),
                metadata.path("uid").asText());
        JsonNode status = claim.path("status");
        List<Device> devices = new ArrayList<>();
        for (JsonNode result : status.at("/allocation/devices/results")) {
            if (result.path("driver").asText().equals(driver) && result.has("bindingConditions")) {
                PendingDevice device = awaited(ref, result);
                if (isOwnPool.test(device.pool())) {
                    devices.add(new Device(device, conditions(status, driver, device)));
                }
            }
        }
        return devices.isEmpty() ? Optional.empty() : Optional.of(new BindingClaim(ref, driver, devices));
    }

    private static PendingDevice awaited(ClaimRef ref, JsonNode result) {
        return new PendingDevice(
                ref,
                result.path("request").asText().split("/", 2)[0],
                new PoolName(result.path("pool").asText()),
                new DeviceName(result.path("device").asText()),
                result.path("shareID").asText(null),
                new BindingConditions(
                        texts(result.path("bindingConditions")), texts(result.path("bindingFailureConditions"))));
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asText).toList();
    }

    private static ArrayNode conditions(JsonNode status, String driver, PendingDevice device) {
        ArrayNode own = JsonNodeFactory.instance.arrayNode();
        status.path("devices")
                .valueStream()
                .filter(entry -> isOf(entry, driver, device))
                .flatMap(entry -> entry.path("conditions").valueStream())
                .filter(condition -> isAwaited(device, condition.path("type").asText()))
                .forEach(own::add);
        return own;
    }

    private static boolean isOf(JsonNode entry, String driver, PendingDevice device) {
        return entry.path("driver").asText().equals(driver)
                && entry.path("pool").asText().equals(device.pool().value())
                && entry.path("device").asText().equals(device.device().value())
                && Objects.equals(entry.path("shareID").asText(null), device.shareId());
    }

    static boolean isAwaited(PendingDevice device, String type) {
        return device.binding().conditions().contains(type)
                || device.binding().failureConditions().contains(type);
    }

    ClaimRef ref() {
        return ref;
    }

    void follow(@Nullable BindingClaim earlier) {
        if (earlier != null && awaited().equals(earlier.awaited())) {
            checked = earlier.checked;
            failed = earlier.failed;
            wait = earlier.wait;
        }
    }

    private List<PendingDevice> awaited() {
        return devices.stream().map(Device::awaited).toList();
    }

    boolean isCheckedWithin(Duration time, Instant now) {
        return Silence.isWithin(time, checked, now);
    }

    void checked(Instant time) {
        checked = time;
    }

    boolean waits(Instant now) {
        return Silence.isWithin(wait, failed, now);
    }

    /** Notes that the API server did not take the conditions, and how long not to send them again. */
    void failed(Instant time, Duration nextWait) {
        failed = time;
        wait = nextWait;
    }

    List<Device> unsettled() {
        return devices.stream().filter(device -> !device.isSettled()).toList();
    }

    /** Returns whether the scheduler or the API server waits for something. */
    boolean isWaiting() {
        return hasNews() || !unsettled().isEmpty();
    }

    /** Returns whether something is set that the API server does not have. */
    boolean hasNews() {
        return !entries().equals(applied);
    }

    /** Notes that the API server has the conditions that are set now. */
    void applied() {
        applied = entries();
    }

    /** The entries of {@code status.devices} with the binding conditions that are set, as JSON. */
    List<String> entries() {
        return devices.stream()
                .filter(device -> !device.conditions.isEmpty())
                .map(device -> entry(driver, device).toString())
                .distinct()
                .toList();
    }

    private static ObjectNode entry(String driver, Device device) {
        PendingDevice it = device.awaited;
        return ReportJson.entry(driver, it.pool().value(), it.device().value(), it.shareId())
                .set("conditions", device.conditions);
    }
}
