// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.policy.DevicePolicy.PolicyRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /**
     * Reads a request as far as it is understood: a newer release may have written it, before a rollback.
     *
     * <p>To be safe, it concerns all devices if these are not understood, and evicts pods only if all of it is.
     *
     * @param unclear takes the fields that are not applied
     */
    static Maintenance understood(JsonNode request, Set<String> unclear) {
        String id = request.path("id").asText("unreadable");
        String since = request.path("since").asText("an unknown time");
        unclear.addAll(List.of("devices", "effect"));
        request.fieldNames().forEachRemaining(unclear::add);
        unclear.removeAll(List.of("id", "since"));
        Maintenance known = new Maintenance(id, List.of(ALL), Taint.Effect.NO_SCHEDULE.apiName(), since);
        try {
            known = new Maintenance(id, texts(request.path("devices")), known.effect, since);
            unclear.remove("devices");
            Maintenance asked =
                    new Maintenance(id, known.devices, request.path("effect").asText(), since);
            if (!asked.evicts() || unclear.equals(Set.of("effect"))) {
                unclear.remove("effect");
                known = asked;
            }
        } catch (IllegalArgumentException e) {
            // what was not removed remains unclear
        }
        return known;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        if (array.isArray()) {
            array.forEach(text -> texts.add(text.asText()));
        }
        return texts;
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
