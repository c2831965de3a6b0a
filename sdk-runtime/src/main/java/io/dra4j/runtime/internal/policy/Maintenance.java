// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.policy.DevicePolicy.PolicyRule;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Maintenance of a node's devices, as requested by an admin.
 *
 * @param id unique for each request, and repeated in the driver's answer
 * @param devices patterns of the names of the devices concerned
 * @param effect the effect of the taint on claims that do not tolerate it, in the API's words
 * @param since when it was requested, for people
 */
public record Maintenance(String id, List<String> devices, String effect, String since) {

    private static final String ALL = "*";

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if one of them is invalid
     */
    public Maintenance {
        if (id == null || devices == null || devices.isEmpty() || since == null) {
            throw new IllegalArgumentException("a part of the maintenance is missing");
        }
        devices = List.copyOf(devices);
        devices.forEach(NamePattern::new);
        effect(effect);
    }

    /** Returns the meaning of a file that can't be read: maintenance of all devices, to be safe. */
    static Maintenance unreadable() {
        return new Maintenance("unreadable", List.of(ALL), "NoSchedule", "an unknown time");
    }

    private static Taint.Effect effect(@Nullable String text) {
        return Stream.of(Taint.Effect.values())
                .filter(each -> each.apiName().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("not an effect of a taint: " + text));
    }

    public static String key(String driverName) {
        return driverName + "/maintenance";
    }

    /** Returns whether pods that use the devices are evicted, unless they tolerate the taint. */
    public boolean evicts() {
        return effect(effect) == Taint.Effect.NO_EXECUTE;
    }

    /** Returns whether no device of the node is left for use. */
    public boolean concernsAll() {
        return devices.stream().anyMatch(text -> new NamePattern(text).isForAll());
    }

    public boolean concerns(HeldClaim claim) {
        return claim.devices().isEmpty()
                || claim.devices().stream()
                        .anyMatch(device -> concerns(device.device().value()));
    }

    boolean concerns(Device device) {
        return concerns(device.name().value());
    }

    private boolean concerns(String device) {
        return devices.stream().anyMatch(text -> new NamePattern(text).matches(device));
    }

    DevicePolicy policy(String driverName) {
        return new DevicePolicy(
                driverName,
                List.of(new PolicyRule(
                        new PolicyRule.Match(
                                devices.stream().map(NamePattern::new).toList(), List.of(), Map.of()),
                        false,
                        Map.of(),
                        List.of(Taint.of(key(driverName), null, effect(effect))))));
    }
}
