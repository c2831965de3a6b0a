// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import java.util.EnumMap;
import java.util.Map;

/** The gates of one server: a release's defaults, with what was set over them. */
final class FeatureGates {
    private final KubernetesVersion version;
    private final Map<FeatureGate, Boolean> states = new EnumMap<>(FeatureGate.class);

    FeatureGates(KubernetesVersion version, Map<FeatureGate, Boolean> overrides) {
        this.version = version;
        for (FeatureGate gate : FeatureGate.values()) {
            states.put(gate, gate.defaultIn(version));
        }
        overrides.forEach(this::set);
    }

    private void set(FeatureGate gate, boolean enabled) {
        if (!gate.existsIn(version)) {
            throw new IllegalArgumentException(
                    "Kubernetes 1."
                            + version.minor()
                            + " has no feature gate "
                            + gate.text()
                            + "; leave it out or choose a newer version");
        }
        states.put(gate, enabled);
    }

    KubernetesVersion version() {
        return version;
    }

    boolean enabled(FeatureGate gate) {
        return states.getOrDefault(gate, false);
    }

    boolean disabled(FeatureGate gate) {
        return !enabled(gate);
    }
}
