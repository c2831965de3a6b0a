// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import java.util.Arrays;

/**
 * The feature gate of a field: in which releases of Kubernetes the field is, and where it is on.
 *
 * @param since the first minor release with the field
 * @param until the last minor release with the field
 */
public record Gate(FeatureGate gate, int since, int until) {

    private static final int FIRST = 34;
    private static final int NEVER = Integer.MAX_VALUE;

    /** Returns the gate of a field that all releases with the gate have. */
    static Gate of(FeatureGate gate) {
        int since = Arrays.stream(KubernetesVersion.values())
                .filter(gate::existsIn)
                .mapToInt(KubernetesVersion::minor)
                .min()
                .orElse(NEVER);
        return new Gate(gate, since, NEVER);
    }

    /** Returns this gate for a field that not all releases with the gate have. */
    Gate since(int first) {
        return new Gate(gate, first, until);
    }

    /** Returns this gate for a field that a later release no longer has. */
    Gate until(int last) {
        return new Gate(gate, since, last);
    }

    public String name() {
        return gate.text();
    }

    public boolean isIn(int minor) {
        return since <= minor && minor <= until;
    }

    /** Returns the gate's name, with the releases that have the field if it is not in all. */
    public String text() {
        if (until < NEVER) {
            return name() + ", Kubernetes 1." + since + " to 1." + until;
        }
        return since > FIRST ? name() + ", Kubernetes 1." + since + " and later" : name();
    }
}
