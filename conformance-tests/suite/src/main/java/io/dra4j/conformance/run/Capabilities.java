// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Unpublished;
import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The detected capabilities of a driver, and those that the settings declare.
 *
 * @param services the DRA services that it declares and the suite knows, in its order
 * @param present the gates that are open
 * @param absent why others are closed, if there is more to say than their default reason
 * @param registrationFailure the reason why the kubelet did not register the driver, which runs; empty if it did
 * @param unpublished the state of a driver that publishes nothing for claims; null if it does
 */
record Capabilities(
        List<Service> services,
        Set<Applicability> present,
        Map<Applicability, Closed> absent,
        String registrationFailure,
        @Nullable Unpublished unpublished) {

    Capabilities {
        services = List.copyOf(services);
        EnumSet<Applicability> gates = EnumSet.noneOf(Applicability.class);
        gates.addAll(present);
        present = Collections.unmodifiableSet(gates);
        Map<Applicability, Closed> reasons = new EnumMap<>(Applicability.class);
        reasons.putAll(absent);
        absent = Collections.unmodifiableMap(reasons);
    }

    boolean isRegistered() {
        return registrationFailure.isEmpty();
    }

    /** Returns whether a requirement is the one that a driver without a complete pool fails. */
    boolean isFailedBy(Requirement requirement) {
        return unpublished != null && unpublished.requirement().equals(requirement.id());
    }

    /** Returns the reason not to check a requirement; empty if its gates are open. */
    Optional<Closed> missing(Requirement requirement) {
        if (isFailedBy(requirement)) {
            return Optional.empty();
        }
        Set<Applicability> any = requirement.anyGates();
        Stream<Closed> closed = requirement.gates().stream()
                .filter(gate -> !present.contains(gate))
                .map(this::closed);
        Stream<Closed> all = any.stream().anyMatch(present::contains)
                ? Stream.of()
                : any.stream().map(this::closed).reduce(Closed::or).stream();
        return Stream.concat(closed, all).min(Comparator.comparingInt(Closed::order));
    }

    private Closed closed(Applicability gate) {
        return absent.getOrDefault(gate, Closed.usually(gate));
    }
}
