// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.cdi.CdiSpecs.DeviceEdits;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.ResultDevice;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.DeviceResult;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Translates a provider's results into those of the journal, the CDI spec, and the kubelet's response.
 *
 * <p>Pure, and the same for equal input: a repeated prepare returns byte for byte what the first did. Every allocated
 * device is returned, in the allocation's order; one that the provider gave no edits for, with no CDI device.
 */
public final class PreparedResults {

    private PreparedResults() {}

    /**
     * Returns what the journal keeps of a provider's results.
     *
     * @throws DraException if the results name devices that the claim does not have
     */
    static Results results(AllocatedClaim claim, PreparedClaim prepared) {
        List<PreparedDevice> left = new ArrayList<>(prepared.devices());
        List<ResultDevice> devices = new ArrayList<>();
        for (AllocatedDevice device : claim.devices()) {
            devices.add(left.stream()
                    .filter(candidate -> candidate.allocated().equals(device))
                    .findFirst()
                    .map(found -> taken(found, left))
                    .orElseGet(() -> withoutEdits(device)));
        }
        if (!left.isEmpty()) {
            throw new DraException("The provider answered a device that is not among the claim's, or twice: "
                    + left.get(0).allocated().device()
                    + "; it must pass on the AllocatedDevice that it was given");
        }
        return new Results(devices, prepared.edits());
    }

    private static ResultDevice taken(PreparedDevice device, List<PreparedDevice> left) {
        left.remove(device);
        device.cdiDeviceIds().forEach(CdiSpecs::requireDeviceId);
        return new ResultDevice(device.allocated().held(), device.edits(), device.cdiDeviceIds());
    }

    private static ResultDevice withoutEdits(AllocatedDevice device) {
        return new ResultDevice(device.held(), ContainerEdits.NONE, List.of());
    }

    /** Returns the devices that need an entry in the claim's CDI spec. */
    public static List<DeviceEdits> specDevices(Results results) {
        return results.devices().stream()
                .filter(device -> inSpec(results, device))
                .map(device -> new DeviceEdits(
                        device.device().pool(),
                        device.device().device(),
                        device.device().shareId(),
                        device.edits()))
                .toList();
    }

    /**
     * Returns the kubelet's results.
     *
     * @param ids the ids of the {@link #specDevices}, in their order
     */
    static PrepareOutcome outcome(Results results, List<String> ids) {
        Iterator<String> next = ids.iterator();
        List<DeviceResult> devices = new ArrayList<>();
        for (ResultDevice device : results.devices()) {
            Stream<String> own = inSpec(results, device) ? Stream.of(next.next()) : Stream.of();
            devices.add(new DeviceResult(
                    List.of(device.device().request()),
                    device.device().pool().value(),
                    device.device().device().value(),
                    Stream.concat(own, device.cdiDeviceIds().stream()).toList(),
                    device.device().shareId()));
        }
        return new PrepareOutcome.Prepared(devices);
    }

    /** A device without edits needs an entry only to carry the edits of the claim. */
    private static boolean inSpec(Results results, ResultDevice device) {
        return !device.edits().isEmpty() || !results.edits().isEmpty();
    }
}
