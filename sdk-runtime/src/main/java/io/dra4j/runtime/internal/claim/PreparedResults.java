// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.cdi.CdiSpecs.DeviceEdits;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.ResultDevice;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.DeviceResult;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Translates a provider's results into those of the journal, the CDI spec, and the kubelet's response.
 *
 * <p>Pure and deterministic: a repeated prepare returns byte for byte what the first did. Every allocated
 * device is returned, in the allocation's order; a device without edits has no CDI device.
 */
public final class PreparedResults {

    private PreparedResults() {}

    /**
     * Returns what the journal keeps of a provider's results.
     *
     * @throws DraException if the results name devices that the claim does not have
     */
    public static Results results(AllocatedClaim claim, PreparedClaim prepared) {
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
            throw new DraException(
                    "The provider returned a device that is not one of the claim's, or returned one twice: "
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

    /**
     * Finds a provider's mistakes in its results.
     *
     * <p>A container uses all devices of a request, or all of the claim, and its runtime applies only the last of edits
     * that contradict each other. So two devices of one request with different content at one path are refused. Other
     * contradictions are logged: perhaps no container uses both devices, or needs the variable. The edits of the claim
     * are applied first, and a device's edits replace them.
     */
    public static final class PreparedCheck {

        private static final Logger LOG = LoggerFactory.getLogger(PreparedCheck.class);

        private PreparedCheck() {}

        /** An edit of a device, identified by what it creates in the container. */
        private record Edit(PreparedDevice by, String thing, Object value) {

            boolean contradicts(Edit other) {
                return thing.equals(other.thing) && !value.equals(other.value);
            }

            /** A variable's value may be a secret. */
            boolean isVariable() {
                return value instanceof String;
            }

            @Override
            public String toString() {
                return (isVariable() ? "" : value + " for ") + "device "
                        + by.allocated().device();
            }
        }

        /**
         * Returns what a provider prepared for a claim.
         *
         * @throws DraException if it is null, lacks devices, contradicts itself, or has a state although preparing the
         *     claim changes nothing
         */
        public static PreparedClaim checked(
                AllocatedClaim claim, @Nullable PreparedClaim prepared, boolean changesNothing) {
            if (prepared == null) {
                throw new DraException(
                        "DeviceProvider.prepare() returned null; it must return PreparedClaim.empty() where"
                                + " containers get nothing through CDI");
            }
            if (changesNothing && prepared.state() != null) {
                refuseState(prepared.state());
            }
            int devices = prepared.devices().size();
            if (devices > 0 && devices < claim.devices().size()) {
                throw new DraException(
                        ("DeviceProvider.prepare() returned %d of the claim's %d devices; it must return all,"
                                        + " with ContainerEdits.NONE where containers get nothing, or none")
                                .formatted(devices, claim.devices().size()));
            }
            List<Edit> before = new ArrayList<>();
            prepared.devices().stream().flatMap(PreparedCheck::edits).forEach(edit -> {
                before.stream().filter(edit::contradicts).forEach(other -> report(claim, other, edit));
                before.add(edit);
            });
            return prepared;
        }

        /**
         * Refuses a state of a claim whose preparation, according to the provider, changes nothing.
         *
         * @throws DraException always
         */
        static void refuseState(ProviderState state) {
            throw new DraException(
                    ("DeviceProvider.changesNothing() returned true, but prepare() has a state of %d characters"
                                    + " to keep; it must return false if anything is changed for the claim")
                            .formatted(state.rawJson().length()));
        }

        private static Stream<Edit> edits(PreparedDevice device) {
            ContainerEdits edits = device.edits();
            return Stream.of(
                            edits.env().entrySet().stream()
                                    .map(env -> new Edit(device, "variable " + env.getKey(), env.getValue())),
                            edits.deviceNodes().stream()
                                    .map(node -> new Edit(device, "device node " + node.path(), node)),
                            edits.mounts().stream()
                                    .map(mount -> new Edit(device, "mount on " + mount.containerPath(), mount)),
                            edits.netDevices().stream().map(net -> new Edit(device, "interface " + net.name(), net)))
                    .flatMap(kind -> kind);
        }

        private static void report(AllocatedClaim claim, Edit one, Edit other) {
            String request = other.by().allocated().request();
            String problem = "The driver's edits contradict each other: "
                    + (one.isVariable()
                                    ? "%s differs between %s and %s of request %s"
                                    : "%s is %s, but %s of request %s")
                            .formatted(one.thing(), one, other, request);
            if (request.equals(one.by().allocated().request()) && !one.isVariable()) {
                throw new DraException(problem);
            }
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM, claim.ref())
                    .log("{}; a container that uses both devices gets only the latter", problem);
        }
    }
}
