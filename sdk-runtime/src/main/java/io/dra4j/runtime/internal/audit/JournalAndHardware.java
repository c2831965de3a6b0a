// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Contradictions between the journal and the devices that the node has. */
final class JournalAndHardware {

    private JournalAndHardware() {}

    static Result gone(Views views) {
        Inventory hardware = views.hardware().get();
        return each(
                views,
                (claim, device) -> isHere(hardware, device)
                                && hardware.device(device.pool(), device.device())
                                        .isEmpty()
                        ? Optional.of(gone(views, claim, device))
                        : Optional.empty());
    }

    /** A pool that another component publishes is not read here. */
    private static boolean isHere(Inventory hardware, HeldDevice device) {
        return hardware.pool(device.pool())
                .filter(pool -> pool.placement() instanceof Placement.PublishedElsewhere)
                .isEmpty();
    }

    private static Finding gone(Views views, ClaimRecord claim, HeldDevice device) {
        return new Finding(
                "device-gone",
                Severity.ERROR,
                Words.claim(claim.ref()),
                "it has device %s/%s, which the node does not have any more".formatted(device.pool(), device.device()),
                "its containers have lost the device, and can't be started again",
                new Mend(views).deletePods(claim.ref()));
    }

    static Result other(Views views) {
        Inventory hardware = views.hardware().get();
        return each(
                views,
                (claim, device) -> hardware.device(device.pool(), device.device())
                        .map(Device::physicalId)
                        .filter(now -> device.physicalId() != null)
                        .filter(now -> !now.equals(device.physicalId()))
                        .map(now -> other(views, claim, device, now)));
    }

    private static Finding other(Views views, ClaimRecord claim, HeldDevice device, String now) {
        return new Finding(
                "device-other-hardware",
                Severity.ERROR,
                Words.claim(claim.ref()),
                "its device %s/%s was %s, and the name means %s now"
                        .formatted(device.pool(), device.device(), device.physicalId(), now),
                "the driver refuses to prepare the claim again, so that no container gets other"
                        + " hardware than it was allocated",
                new Mend(views).deletePods(claim.ref()));
    }

    private interface Look {
        Optional<Finding> at(ClaimRecord claim, HeldDevice device);
    }

    private static Result each(Views views, Look look) {
        List<Finding> findings = new ArrayList<>();
        int devices = 0;
        for (ClaimRecord claim : views.prepared()) {
            for (HeldDevice device : claim.devices()) {
                devices++;
                look.at(claim, device).ifPresent(findings::add);
            }
        }
        return Words.result(findings, devices, "device");
    }
}
