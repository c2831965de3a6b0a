// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.ClaimPreview;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.controllers.AllocationWriter;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Builds claims as the runtime passes them to a provider: devices of its inventory, and configurations that its own
 * kinds decode.
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

    static final String REQUEST = "devices";

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final AllocationWriter ALLOCATIONS = new AllocationWriter(
            name -> Optional.empty(), new FeatureGates(KubernetesVersion.newest(), Map.of()), InstantSource.system());

    private final String driver;
    private final Inventory inventory;
    private final ClaimPreview preview;
    private ObjectNode claim;

    private AllocatedClaims(String driver, DeviceProvider provider) throws Exception {
        this.driver = driver;
        this.inventory = provider.inventory();
        this.preview = ClaimPreview.of(driver, provider.configTypes(), inventory);
        this.claim = AllocationWriter.claim(REQUEST, driver);
        named("default", "claim", "uid");
    }

    /**
     * Starts a claim for a provider, which need not be started.
     *
     * @param driverName the name of the driver and of the claim's device class
     * @param provider the provider, with the devices that it offers now
     * @return a builder of a claim {@code default/claim} with the UID {@code uid} and one request, {@code devices}
     * @throws Exception if the provider can't read its inventory
     */
    public static AllocatedClaims of(String driverName, DeviceProvider provider) throws Exception {
        return new AllocatedClaims(
                Objects.requireNonNull(driverName, "driverName"), Objects.requireNonNull(provider, "provider"));
    }

    /**
     * Starts over with a user's claim.
     *
     * <p>If it has a {@code status.allocation}, that is used, together with additions here; otherwise the
     * configurations of its {@code spec} are used, and devices are allocated here.
     *
     * @param claim a ResourceClaim of {@code resource.k8s.io/v1} as YAML or JSON; what its metadata
     *     leaves out is filled in
     * @return this builder
     */
    public AllocatedClaims yaml(String claim) {
        ObjectNode started = object(Objects.requireNonNull(claim, "claim"));
        this.claim = started;
        if (started.at("/status/allocation").isMissingNode()) {
            for (JsonNode config : started.at("/spec/devices/config")) {
                configs().addObject().put("source", "FromClaim").setAll((ObjectNode) config.deepCopy());
            }
        }
        return this;
    }

    /** Reads a claim as YAML or JSON. */
    static ObjectNode object(String manifest) {
        if (tree(manifest, "The claim") instanceof ObjectNode object) {
            return object;
        }
        throw new IllegalArgumentException("The claim is not an object: " + manifest);
    }

    private static JsonNode tree(String text, String what) {
        try {
            return YAML.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(what + " is neither YAML nor JSON: " + e.getOriginalMessage(), e);
        }
    }

    private ArrayNode configs() {
        return claim.withArray("/status/allocation/devices/config");
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
        claim.withObject("/metadata")
                .put("namespace", ref.namespace())
                .put("name", ref.name())
                .put("uid", ref.uid());
        return this;
    }

    /**
     * Allocates a device to the first request, in the form that a scheduler writes: for a device that several claims
     * may have, a share with the requested or else the default amount of each capacity.
     *
     * @param device the name of the device
     * @return this builder
     * @throws IllegalArgumentException if the inventory has no such device, or can't be published
     */
    public AllocatedClaims device(String device) {
        return device(AllocationWriter.firstRequest(claim), device);
    }

    /**
     * Allocates a device, or such a share, to a request.
     *
     * @param request the name of the request, or {@code request/subrequest}
     * @param device the name of the device
     * @return this builder
     */
    public AllocatedClaims device(String request, String device) {
        allocate(request, device);
        return this;
    }

    /**
     * Allocates a device with admin access to the first request.
     *
     * @param device the name of the device
     * @return this builder
     */
    public AllocatedClaims adminAccess(String device) {
        allocate(AllocationWriter.firstRequest(claim), device).put("adminAccess", true);
        return this;
    }

    /**
     * Allocates a share of a device to the first request, as the test specifies.
     *
     * @param device the name of the device, which allows multiple allocations
     * @param shareId the share, a UUID
     * @param consumed the capacities of the device that the share consumes
     * @return this builder
     */
    public AllocatedClaims share(String device, String shareId, Map<String, Quantity> consumed) {
        ObjectNode result = allocate(AllocationWriter.firstRequest(claim), device);
        result.put("shareID", Objects.requireNonNull(shareId, "shareId"));
        ObjectNode amounts = result.putObject("consumedCapacity");
        consumed.forEach((name, amount) -> amounts.put(name, amount.toString()));
        return this;
    }

    private ObjectNode allocate(String request, String device) {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(device, "device");
        ObjectNode result = ALLOCATIONS.chosen(claim, request, slice(device), device);
        claim.withArray("/status/allocation/devices/results").add(result);
        return result;
    }

    private JsonNode slice(String device) {
        List<String> slices = SlicePreview.rawJson(driver, "node", inventory);
        return AllocationWriter.sliceWith(device, slices.stream().map(JsonTrees::parse))
                .orElseThrow(() -> new IllegalArgumentException("The inventory has no device " + device));
    }

    /**
     * Adds a configuration of the claim.
     *
     * @param parameters the opaque parameters, with {@code apiVersion} and {@code kind}, as YAML or JSON
     * @param requests the requests that it applies to; none for all
     * @return this builder
     */
    public AllocatedClaims config(String parameters, String... requests) {
        configs().add(entry("FromClaim", parameters, requests));
        return this;
    }

    /**
     * Adds a configuration of the device class.
     *
     * @param parameters the opaque parameters, with {@code apiVersion} and {@code kind}, as YAML or JSON
     * @param requests the requests that it applies to; none for all
     * @return this builder
     */
    public AllocatedClaims classConfig(String parameters, String... requests) {
        ArrayNode configs = configs();
        int first = 0;
        while (configs.path(first).path("source").asText().equals("FromClass")) {
            first++;
        }
        configs.insert(first, entry("FromClass", parameters, requests));
        return this;
    }

    private ObjectNode entry(String source, String parameters, String... requests) {
        ObjectNode entry = JsonNodeFactory.instance.objectNode().put("source", source);
        List.of(requests).forEach(entry.withArray("/requests")::add);
        entry.putObject("opaque").put("driver", driver).set("parameters", tree(parameters, "The configuration"));
        return entry;
    }

    /**
     * Decodes the claim as the runtime does.
     *
     * @return the claim, with the driver's devices and the configurations that apply to them
     * @throws io.dra4j.api.error.PrepareException if the runtime would refuse it; the message is for the pod's owner
     */
    public AllocatedClaim build() {
        return preview.allocated(claim.toString());
    }
}
