// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.kubelet.PluginInfo.Service;
import io.dra4j.conformance.requirements.Gate;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a driver can do, as far as it was seen, and what of the settings helps.
 *
 * @param services the DRA services that it declares and the suite knows, in its order
 * @param present the gates that are open
 * @param absent why others are closed, where there is more to say than their words
 * @param trouble why the kubelet did not register the driver, which runs; empty if it did
 */
public record Capabilities(
        List<Service> services, Set<Gate> present, Map<Gate, String> absent, String trouble) {

    public Capabilities {
        services = List.copyOf(services);
        EnumSet<Gate> gates = EnumSet.noneOf(Gate.class);
        gates.addAll(present);
        present = Collections.unmodifiableSet(gates);
        Map<Gate, String> reasons = new EnumMap<>(Gate.class);
        reasons.putAll(absent);
        absent = Collections.unmodifiableMap(reasons);
    }

    /** Whether the kubelet registered the driver. */
    boolean isRegistered() {
        return trouble.isEmpty();
    }

    /** Why something that needs these gates does not apply; empty if it does. */
    Optional<String> missing(Set<Gate> all, Set<Gate> any) {
        Optional<String> closed =
                all.stream().filter(gate -> !present.contains(gate)).map(this::reason).findFirst();
        if (closed.isPresent() || any.isEmpty() || any.stream().anyMatch(present::contains)) {
            return closed;
        }
        return any.stream().map(this::reason).reduce((a, b) -> a + ", and " + b);
    }

    private String reason(Gate gate) {
        return absent.getOrDefault(gate, gate.otherwise());
    }
}
