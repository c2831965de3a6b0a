// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.EnumMap;
import java.util.Map;

/** The gates of one server: a release's defaults with overrides. */
public final class FeatureGates {
    private final KubernetesVersion version;
    private final Map<FeatureGate, Boolean> states = new EnumMap<>(FeatureGate.class);

    public FeatureGates(KubernetesVersion version, Map<FeatureGate, Boolean> overrides) {
        this.version = version;
        for (FeatureGate gate : FeatureGate.values()) {
            states.put(gate, gate.defaultIn(version));
        }
        overrides.forEach(this::set);
    }

    /** Returns the gates of a server on which all that its release has are on. */
    public static FeatureGates allOn(KubernetesVersion version) {
        FeatureGates gates = new FeatureGates(version, Map.of());
        gates.states.replaceAll((gate, enabled) -> gate.existsIn(version));
        return gates;
    }

    private void set(FeatureGate gate, boolean enabled) {
        if (!gate.existsIn(version)) {
            throw new IllegalArgumentException(
                    "Kubernetes 1.%s has no feature gate %s; leave it out or choose a newer version"
                            .formatted(version.minor(), gate.text()));
        }
        if (gate.isLockedIn(version) && !enabled) {
            throw new IllegalArgumentException(
                    "Kubernetes 1.%s has locked feature gate %s on; leave it out or choose an older version"
                            .formatted(version.minor(), gate.text()));
        }
        states.put(gate, enabled);
    }

    public KubernetesVersion version() {
        return version;
    }

    /** Returns the gates that differ from the release's default, with their state. */
    public Map<FeatureGate, Boolean> changed() {
        Map<FeatureGate, Boolean> changed = new EnumMap<>(states);
        changed.keySet().removeIf(gate -> enabled(gate) == gate.defaultIn(version));
        return changed;
    }

    /** Returns whether DeviceTaintRules taint devices, which in 1.34 the gate of taints decides. */
    public boolean followsTaintRules() {
        FeatureGate rules = FeatureGate.DRA_DEVICE_TAINT_RULES;
        return enabled(FeatureGate.DRA_DEVICE_TAINTS) && (enabled(rules) || !rules.existsIn(version));
    }

    public boolean enabled(FeatureGate gate) {
        return states.getOrDefault(gate, false);
    }
}
