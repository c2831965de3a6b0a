// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.simulation.world.Violation.Invariant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Adds up the devices that claims have, and throws if it is too much. */
final class Exclusive {

    private final Hardware hardware;
    private final String how;
    private final Map<String, List<Use>> uses = new LinkedHashMap<>(); // by chip

    private record Use(String claim, HeldDevice device, long amount) {}

    Exclusive(Hardware hardware, String how) {
        this.hardware = hardware;
        this.how = how;
    }

    void add(String claim, List<HeldDevice> devices) {
        for (HeldDevice device : devices) {
            if (!device.adminAccess()) {
                Use use = new Use(claim, device, amount(device));
                List<Use> before =
                        uses.computeIfAbsent(hardware.chipOf(device.device().value()), unseen -> new ArrayList<>());
                before.stream().filter(other -> clash(other, use)).forEach(other -> refuse(List.of(other, use)));
                before.add(use);
                if (before.stream().mapToLong(Use::amount).sum() > 80) {
                    refuse(before);
                }
            }
        }
    }

    private static long amount(HeldDevice device) {
        return device.consumedCapacity().values().stream()
                .mapToLong(amount -> amount.amount().longValue() >> 30)
                .sum();
    }

    private boolean clash(Use one, Use other) {
        String device = one.device.device().value();
        String second = other.device.device().value();
        if (device.equals(second)) {
            return share(one) == null || share(other) == null || Objects.equals(share(one), share(other));
        }
        return hardware.parts(device).stream().anyMatch(hardware.parts(second)::contains);
    }

    private static @Nullable String share(Use use) {
        return use.device.shareId();
    }

    private void refuse(List<Use> claims) {
        throw new Violation(Invariant.EXCLUSIVE, "%s together: %s".formatted(how, claims));
    }
}
