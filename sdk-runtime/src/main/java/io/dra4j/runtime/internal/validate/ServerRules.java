// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The rules of an API server for a pool: the pool itself, each counter set and each device are
 * checked in a slice of their own, in the form in which they are sent.
 *
 * @param book returns the errors for which a server of a release would refuse a slice
 * @param gates the server's release and gates
 */
record ServerRules(
        BiFunction<Content, FeatureGates, List<FieldError>> book, FeatureGates gates, Pool pool, Findings findings) {

    private static final KubernetesVersion NEWEST = KubernetesVersion.newest();
    private static final FeatureGates ALL_FIELDS = new FeatureGates(NEWEST, allGates());

    private static final String SPEC = "spec.";
    private static final String DEVICES = "spec.devices";
    private static final String DEVICE = DEVICES + "[0]";
    private static final String COUNTER_SET = "spec.sharedCounters[0]";

    /** The rules of the newest release, whose fields are all those that a pool can have. */
    static ServerRules newest(BiFunction<Content, FeatureGates, List<FieldError>> book, Pool pool, Findings findings) {
        return new ServerRules(book, ALL_FIELDS, pool, findings);
    }

    private static Map<FeatureGate, Boolean> allGates() {
        Map<FeatureGate, Boolean> gates = new EnumMap<>(FeatureGate.class);
        Arrays.stream(FeatureGate.values())
                .filter(gate -> gate.existsIn(NEWEST))
                .forEach(gate -> gates.put(gate, true));
        return gates;
    }

    /** Checks all but the devices. */
    void checkPool() {
        check(null, List.of(), "");
        List<CounterSet> sets = pool.counterSets();
        for (int i = 0; i < sets.size(); i++) {
            check(null, List.of(sets.get(i)), "sharedCounters[" + i + "]");
        }
    }

    /**
     * Checks a device.
     *
     * @param besides the counter sets in its slice, which are checked with the pool
     */
    void check(Device device, List<CounterSet> besides) {
        if (!findings.isFull()) {
            check(device, besides, "");
        }
    }

    private void check(@Nullable Device device, List<CounterSet> sets, String shownSet) {
        for (FieldError error : errors(device, sets)) {
            String field = error.field();
            if (device != null && field.startsWith(DEVICE)) {
                String shown = "devices[" + device.name() + "]";
                findings.add(device.name(), shown + after(DEVICE, field), error.message());
            } else if (!field.startsWith(COUNTER_SET)) {
                boolean isOfDevice = device != null && field.startsWith(DEVICES); // the only one in the slice
                findings.add(isOfDevice ? device.name() : null, after(SPEC, field), error.message());
            } else if (!shownSet.isEmpty()) {
                findings.add(null, shownSet + after(COUNTER_SET, field), error.message());
            }
        }
    }

    private static String after(String prefix, String field) {
        return field.startsWith(prefix) ? field.substring(prefix.length()) : field;
    }

    private List<FieldError> errors(@Nullable Device device, List<CounterSet> sets) {
        List<Device> devices = device == null ? List.of() : List.of(device);
        boolean isPartition = device != null && !device.consumesCounters().isEmpty();
        Content content = new Content(pool.name(), 1, 1, pool.placement(), devices, sets)
                .with(
                        isPartition ? pool.partitionTypeAttribute() : null,
                        pool.skipNodeOperations().stream()
                                .map(NodeOperation::apiName)
                                .toList());
        return book.apply(content, gates);
    }
}
