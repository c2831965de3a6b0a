// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The report of a claim's devices.
 *
 * @param podClaimName the pods' name for the claim, if it was created from a template
 * @param devices devices that report something, each once
 * @param ended true if the claim is no longer prepared, and only the API server must still be informed
 */
record ClaimReport(ClaimRef claim, @Nullable String podClaimName, List<DeviceReport> devices, boolean ended) {

    static ClaimReport of(ClaimRef claim) {
        return new ClaimReport(claim, null, List.of(), false);
    }

    ClaimReport {
        Objects.requireNonNull(claim, "claim");
        devices = List.copyOf(devices);
    }

    Optional<DeviceReport> about(DeviceReport device) {
        return devices.stream().filter(device::isAbout).findFirst();
    }

    /** Returns this report with another one of a device. */
    ClaimReport with(DeviceReport changed) {
        List<DeviceReport> all = new ArrayList<>(devices);
        all.removeIf(changed::isAbout);
        all.add(changed);
        return new ClaimReport(claim, podClaimName, all, ended);
    }

    /** Returns this report of a claim that pods know by its own name. */
    ClaimReport named(@Nullable String newPodClaimName) {
        return new ClaimReport(claim, newPodClaimName, devices, ended);
    }

    /** Returns the report of the claim once it is unprepared: empty, and yet to be sent. */
    ClaimReport end() {
        return new ClaimReport(claim, podClaimName, List.of(), true);
    }

    boolean isEmpty() {
        return devices.stream().allMatch(d -> d.status() == null && d.metadata() == null);
    }

    boolean hasStatus() {
        return devices.stream().anyMatch(device -> device.status() != null);
    }

    /** The requests with a device that containers can read about. */
    List<String> requestsWithMetadata() {
        return devices.stream()
                .filter(device -> device.metadata() != null)
                .map(DeviceReport::request)
                .distinct()
                .toList();
    }

    /** The entries of {@code status.devices}, as JSON; a device that two requests got has one, the latest. */
    List<String> statusEntries(String driver) {
        List<DeviceReport> reporting =
                devices.stream().filter(device -> device.status() != null).toList();
        return reporting.stream()
                .filter(device -> laterThan(device, reporting).noneMatch(device::isOfDevice))
                .map(device -> entry(driver, device).toString())
                .toList();
    }

    private static Stream<DeviceReport> laterThan(DeviceReport device, List<DeviceReport> all) {
        return all.subList(all.indexOf(device) + 1, all.size()).stream();
    }

    private static ObjectNode entry(String driver, DeviceReport device) {
        return ReportJson.entry(driver, device.pool(), device.device(), device.shareId())
                .setAll(Objects.requireNonNull(device.status()));
    }

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
}
