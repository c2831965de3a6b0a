// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.runtime.ClaimPreview;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Builds claims as the runtime gives them to a provider: devices of its inventory, and
 * configurations that its own kinds decode.
 *
 * <pre>{@code
 * AllocatedClaim claim =
 *         AllocatedClaims.of("fpga.example.com", provider)
 *                 .config("{apiVersion: fpga.example.com/v1, kind: Clock, megahertz: 200}")
 *                 .device("fpga-0")
 *                 .build();
 * }</pre>
 *
 * <p>An object builds one claim; it is not thread-safe.
 */
public final class AllocatedClaims {

    private final String driver;
    private final Inventory inventory;
    private final ClaimPreview preview;
    private ClaimDraft draft;

    private AllocatedClaims(String driver, DeviceProvider provider) throws Exception {
        this.driver = driver;
        this.inventory = provider.inventory();
        this.preview = ClaimPreview.of(driver, provider.configTypes(), inventory);
        this.draft = ClaimDraft.empty(driver);
        named("default", "claim", "uid");
    }

    /**
     * Starts a claim for a provider, which need not be started.
     *
     * @param driverName the driver's name, and that of the claim's device class
     * @param provider the provider, with the devices that it offers now
     * @return a builder of a claim {@code default/claim} with the UID {@code uid} and one request,
     *     {@code devices}
     * @throws Exception if the provider can't read its inventory
     */
    public static AllocatedClaims of(String driverName, DeviceProvider provider) throws Exception {
        return new AllocatedClaims(
                Objects.requireNonNull(driverName, "driverName"), Objects.requireNonNull(provider, "provider"));
    }

    /**
     * Starts again with a claim of a user's.
     *
     * <p>If it has a {@code status.allocation}, that counts, with what is added here; otherwise the
     * configurations of its {@code spec} do, and devices are allocated here.
     *
     * @param claim a ResourceClaim of {@code resource.k8s.io/v1} as YAML or JSON; what its metadata
     *     leaves out is filled in
     * @return this builder
     */
    public AllocatedClaims yaml(String claim) {
        draft = ClaimDraft.of(Objects.requireNonNull(claim, "claim"), driver);
        return this;
    }

    /**
     * Sets the name of the claim.
     *
     * @param namespace the namespace
     * @param name the name
     * @param uid the UID
     * @return this builder
     */
    public AllocatedClaims named(String namespace, String name, String uid) {
        ClaimRef ref = new ClaimRef(namespace, name, uid);
        draft.metadata()
                .put("namespace", ref.namespace())
                .put("name", ref.name())
                .put("uid", ref.uid());
        return this;
    }

    /**
     * Allocates a device to the first request; of one that several claims may have, a share that
     * takes what a scheduler gives a claim that asks for no amount.
     *
     * @param device the name of the device
     * @return this builder
     */
    public AllocatedClaims device(String device) {
        return device(draft.firstRequest(), device);
    }

    /**
     * Allocates a device, or such a share.
     *
     * @param request the name of the request, or {@code request/subrequest}
     * @param device the name of the device
     * @return this builder
     */
    public AllocatedClaims device(String request, String device) {
        ObjectNode result = allocate(request, device);
        Device offered = offered(device);
        if (offered.allowMultipleAllocations()) {
            result.put("shareID", UUID.randomUUID().toString());
            ObjectNode amounts = result.putObject("consumedCapacity");
            offered.capacities().forEach((name, capacity) -> amounts.put(name, byDefault(capacity)));
        }
        return this;
    }

    private static String byDefault(Capacity capacity) {
        RequestPolicy policy = capacity.requestPolicy();
        Quantity amount = policy == null ? null : policy.defaultValue();
        return (amount == null ? capacity.value() : amount).toString();
    }

    /**
     * Allocates a device with admin access to the first request.
     *
     * @param device the name of the device
     * @return this builder
     */
    public AllocatedClaims adminAccess(String device) {
        allocate(draft.firstRequest(), device).put("adminAccess", true);
        return this;
    }

    /**
     * Allocates a share of a device to the first request.
     *
     * @param device the name of the device, which allows multiple allocations
     * @param shareId the share, a UUID
     * @param consumed what the share takes of the device's capacities
     * @return this builder
     */
    public AllocatedClaims share(String device, String shareId, Map<String, Quantity> consumed) {
        ObjectNode result = allocate(draft.firstRequest(), device);
        result.put("shareID", Objects.requireNonNull(shareId, "shareId"));
        ObjectNode amounts = result.putObject("consumedCapacity");
        consumed.forEach((name, amount) -> amounts.put(name, amount.toString()));
        return this;
    }

    private ObjectNode allocate(String request, String device) {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(device, "device");
        return draft.device(request, pool(device), device);
    }

    private String pool(String device) {
        return inventory.pools().stream()
                .filter(pool -> has(pool, device))
                .map(pool -> pool.name().value())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("The inventory has no device " + device));
    }

    private Device offered(String device) {
        return inventory.pools().stream()
                .flatMap(pool -> pool.devices().stream())
                .filter(one -> one.name().value().equals(device))
                .findFirst()
                .orElseThrow();
    }

    private static boolean has(Pool pool, String device) {
        return pool.devices().stream().anyMatch(one -> one.name().value().equals(device));
    }

    /**
     * Adds a configuration of the claim.
     *
     * @param parameters the opaque parameters, with {@code apiVersion} and {@code kind}, as YAML or
     *     JSON
     * @param requests the requests that it is for; none for all
     * @return this builder
     */
    public AllocatedClaims config(String parameters, String... requests) {
        draft.config("FromClaim", parameters, List.of(requests));
        return this;
    }

    /**
     * Adds a configuration of the device class.
     *
     * @param parameters the opaque parameters, with {@code apiVersion} and {@code kind}, as YAML or
     *     JSON
     * @param requests the requests that it is for; none for all
     * @return this builder
     */
    public AllocatedClaims classConfig(String parameters, String... requests) {
        draft.config("FromClass", parameters, List.of(requests));
        return this;
    }

    /**
     * Decodes the claim as the runtime does.
     *
     * @return the claim, with the driver's devices and the configurations that apply to them
     * @throws io.dra4j.api.error.PrepareException if the runtime would refuse it; the message is
     *     for the pod's owner
     */
    public AllocatedClaim build() {
        return preview.allocated(draft.json().toString());
    }
}
