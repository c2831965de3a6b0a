// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether allocated devices are ready, before their pods are bound to the node.
 *
 * <p>Drivers of devices with {@linkplain BindingConditions binding conditions} need it. It is called for devices of
 * this node, on a dedicated thread, one device at a time; again every few seconds, and after a restart, until all
 * conditions are true or a failure condition is. The scheduler waits for that, for ten minutes by default.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5007-device-attach-before-pod-scheduled">
 *     KEP-5007</a>
 */
@FunctionalInterface
public interface ReadinessCheck {

    /**
     * Returns the conditions of a device.
     *
     * <p>It may start to make the device ready, but must not wait until it is.
     *
     * @param device the device that the scheduler allocated, and waits for
     * @return the conditions to set in the claim's status, among those that the scheduler waits for; those left out
     *     stay as they are
     * @throws Exception if the conditions are unknown; the runtime calls again
     */
    List<Condition> check(PendingDevice device) throws Exception;

    /**
     * A device that the scheduler waits for.
     *
     * @param claim names the claim that was allocated the device
     * @param request the name of the request in the claim, without a subrequest
     * @param pool the device's pool
     * @param device the device
     * @param shareId the share of the device, or {@code null}
     * @param binding the condition types that the scheduler waits for
     */
    record PendingDevice(
            ClaimRef claim,
            String request,
            PoolName pool,
            DeviceName device,
            @Nullable String shareId,
            BindingConditions binding) {

        /** Checks that nothing is missing. */
        public PendingDevice {
            Objects.requireNonNull(claim, "claim");
            Objects.requireNonNull(request, "request");
            Objects.requireNonNull(pool, "pool");
            Objects.requireNonNull(device, "device");
            Objects.requireNonNull(binding, "binding");
        }
    }
}
