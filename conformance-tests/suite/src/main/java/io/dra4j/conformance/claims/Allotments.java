// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.Allocation;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.HeldDevice;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.controllers.AllocationWriter;
import io.dra4j.testkit.settings.SettingsException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Gives devices to claims of the settings' shapes, as the scheduler does.
 *
 * <p>A device goes to one claim, even if several may share it: the rules themselves allocate more claims for it.
 */
public final class Allotments {

    /** Fields that the server drops with their gates off. Binding conditions, which nothing sets, exclude devices. */
    private static final List<FeatureGate> ON = List.of(
            FeatureGate.DRA_PRIORITIZED_LIST,
            FeatureGate.DRA_PARTITIONABLE_DEVICES,
            FeatureGate.DRA_DEVICE_TAINTS,
            FeatureGate.DRA_CONSUMABLE_CAPACITY,
            FeatureGate.DRA_LIST_TYPE_ATTRIBUTES);

    private final ClaimTemplates templates;
    private final List<DeviceClass> classes;
    private final Allocator allocator;
    private final AllocationWriter allocations;

    /** The release is that of the scheduler: the number after "1.". */
    public Allotments(ClaimTemplates templates, int release) {
        this.templates = templates;
        classes = templates.classes().values().stream().map(DeviceClass::of).toList();
        KubernetesVersion version = KubernetesVersion.nearest(release);
        Map<FeatureGate, Boolean> states = new EnumMap<>(FeatureGate.class);
        ON.stream().filter(gate -> gate.existsIn(version)).forEach(gate -> states.put(gate, true));
        states.put(FeatureGate.DRA_DEVICE_BINDING_CONDITIONS, false);
        FeatureGates gates = new FeatureGates(version, states);
        allocator = Allocator.of(gates);
        allocations = new AllocationWriter(
                name -> Optional.ofNullable(templates.classes().get(name)), gates, InstantSource.system());
    }

    /**
     * Makes claims from the templates in turn, as many as there is room for.
     *
     * @param slices the slices of complete pools
     * @throws SettingsException if an expression fails
     */
    public List<Allotment> of(JsonNode node, List<JsonNode> slices) {
        List<Slice> published = slices.stream().map(Slice::of).toList();
        List<Claim> held = new ArrayList<>();
        List<Allotment> all = new ArrayList<>();
        int before;
        do {
            before = all.size();
            for (ClaimTemplate template : templates.templates()) {
                if (outcome(template, node, published, held) instanceof Outcome.Allocated allocated) {
                    Allocation allocation = allocated.allocations().get(0);
                    all.add(new Allotment(
                            template.title(),
                            template.json().at("/spec/devices"),
                            allocations.of(template.json(), allocation)));
                    held.add(holder(template.claim(), allocation));
                }
            }
        } while (all.size() > before);
        return all;
    }

    /** A claim that does not share its devices. */
    private static Claim holder(Claim claim, Allocation allocation) {
        List<HeldDevice> devices = allocation.results().stream()
                .map(one -> new HeldDevice(one.device(), false, "", Map.of()))
                .toList();
        return new Claim(claim.namespace(), claim.name(), claim.requests(), claim.constraints(), devices);
    }

    private Outcome outcome(ClaimTemplate template, JsonNode node, List<Slice> slices, List<Claim> held) {
        ClusterState cluster = new ClusterState(classes, slices, held, List.of());
        Outcome outcome = allocator.allocate(cluster, Node.of(node), List.of(template.claim()));
        if (outcome instanceof Outcome.Failed failed) {
            throw new SettingsException("driver.claims: %s: %s".formatted(template.title(), failed.message()));
        }
        return outcome;
    }

    /** A sentence for each template from which no claim can be made, even with all devices free. */
    public List<String> complaints(JsonNode node, List<JsonNode> slices) {
        List<Slice> published = slices.stream().map(Slice::of).toList();
        int devices =
                published.stream().mapToInt(slice -> slice.devices().size()).sum();
        List<String> complaints = new ArrayList<>();
        for (ClaimTemplate template : templates.templates()) {
            if (outcome(template, node, published, List.of()) instanceof Outcome.DoesNotFit not) {
                List<String> why = new ArrayList<>();
                not.requests().forEach(request -> why.add(request.text()));
                not.pools().forEach(pool -> why.add("pool " + pool.pool().pool() + " is not used: " + pool.problem()));
                complaints.add("%s gets no devices of the %d that are published: %s"
                        .formatted(template.title(), devices, String.join("; ", why)));
            }
        }
        return complaints;
    }
}
