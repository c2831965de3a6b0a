// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldDevice;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The report of one device of a claim, in the API's JSON.
 *
 * @param status conditions, data and network data; {@code null} for none
 * @param metadata attributes and network data; {@code null} if containers have no file to read it
 */
record DeviceReport(
        String request,
        @Nullable String subrequest,
        String pool,
        String device,
        @Nullable String shareId,
        @Nullable ObjectNode status,
        @Nullable ObjectNode metadata) {

    static DeviceReport of(AllocatedDevice device) {
        return new DeviceReport(
                device.request(),
                device.subrequest(),
                device.pool().value(),
                device.device().value(),
                device.shareId(),
                null,
                null);
    }

    static DeviceReport of(HeldDevice device) {
        return new DeviceReport(
                device.request(),
                device.subrequest(),
                device.pool().value(),
                device.device().value(),
                device.shareId(),
                null,
                null);
    }

    DeviceReport withStatus(@Nullable ObjectNode newStatus) {
        return new DeviceReport(request, subrequest, pool, device, shareId, newStatus, metadata);
    }

    DeviceReport withMetadata(@Nullable ObjectNode newMetadata) {
        return new DeviceReport(request, subrequest, pool, device, shareId, status, newMetadata);
    }

    /** Returns whether two reports are about one device for one request. */
    boolean isAbout(DeviceReport other) {
        return request.equals(other.request) && isOfDevice(other);
    }

    /** Returns whether two reports are about one device, or one share of it. */
    boolean isOfDevice(DeviceReport other) {
        return pool.equals(other.pool) && device.equals(other.device) && Objects.equals(shareId, other.shareId);
    }

    /** The request as the allocation names it: {@code request/subrequest} where there is one. */
    String qualifiedRequest() {
        return subrequest == null ? request : request + "/" + subrequest;
    }
}
