// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.PreparedResults;
import io.dra4j.runtime.internal.claim.PreparedResults.PreparedCheck;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Shows a claim as a provider would receive it, without a cluster: for a vendor's tests and tools.
 *
 * <p>A claim is decoded and its configurations are validated as before a prepare, with the same messages. The provider
 * is not asked to prepare it; what it has prepared can be {@linkplain #check checked}. Immutable.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/"> ResourceClaim</a>
 */
public final class ClaimPreview {

    private static final YAMLMapper YAML = YAMLMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final String API_VERSION = "resource.k8s.io/v1";
    private static final String NO_UID = "00000000-0000-0000-0000-000000000000";

    private final Allocations allocations;
    private final Inventory inventory;

    private ClaimPreview(Allocations allocations, Inventory inventory) {
        this.allocations = allocations;
        this.inventory = inventory;
    }

    /**
     * Returns a preview for a driver.
     *
     * @param driverName the driver's name
     * @param configTypes the configurations that the driver understands
     * @param inventory the devices that may be allocated
     * @return the preview
     */
    public static ClaimPreview of(String driverName, List<ConfigType<?>> configTypes, Inventory inventory) {
        return new ClaimPreview(
                new Allocations(Objects.requireNonNull(driverName, "driverName"), configTypes),
                Objects.requireNonNull(inventory, "inventory"));
    }

    /**
     * Returns a preview for a provider, with the devices that it offers now; it need not be started.
     *
     * @param driverName the driver's name
     * @param provider the provider
     * @return the preview
     * @throws Exception if the provider can't read its inventory
     */
    public static ClaimPreview of(String driverName, DeviceProvider provider) throws Exception {
        return of(driverName, provider.configTypes(), provider.inventory());
    }

    /**
     * Returns a claim as {@link DeviceProvider#prepare} gets it.
     *
     * <p>Metadata that a server would have set is filled in if the file leaves it out: the namespace {@code default},
     * the name {@code claim}, a UID of zeros.
     *
     * @param claim a ResourceClaim of {@code resource.k8s.io/v1} as YAML or JSON, with {@code status.allocation}
     * @return the claim, with the devices of this driver and the configurations that apply to them
     * @throws io.dra4j.api.error.PrepareException if it can't be prepared: it is not allocated, a device does not
     *     exist, a configuration is not valid
     * @throws IllegalArgumentException if the text is not a ResourceClaim of this version
     */
    public AllocatedClaim allocated(String claim) {
        ObjectNode object = parse(claim);
        ObjectNode metadata = object.withObject("/metadata");
        ClaimRef ref = new ClaimRef(
                filledIn(metadata, "namespace", "default"),
                filledIn(metadata, "name", "claim"),
                filledIn(metadata, "uid", NO_UID));
        return allocations.read(ref, ClaimCodec.decode(object.toString()), inventory);
    }

    /**
     * Returns the reason why a claim would be refused before the provider is called.
     *
     * @param claim a ResourceClaim, as for {@link #allocated}
     * @return the message as the kubelet shows it to the owner of the pod; empty if the provider would be called
     * @throws IllegalArgumentException if the text is not a ResourceClaim of this version
     */
    public Optional<String> refusal(String claim) {
        try {
            allocated(claim);
            return Optional.empty();
        } catch (DraException e) {
            return Optional.of(new PrepareOutcome.Failed(e.getMessage()).message());
        }
    }

    /**
     * Checks what a provider has prepared for a claim, as the runtime does.
     *
     * @param claim the claim
     * @param prepared the provider's result
     * @param changesNothing the provider's answer to {@link DeviceProvider#changesNothing} for the claim
     * @throws DraException if the runtime would refuse it: it lacks devices, contradicts itself, or has a state although
     *     nothing is changed
     */
    public static void check(AllocatedClaim claim, @Nullable PreparedClaim prepared, boolean changesNothing) {
        PreparedResults.results(claim, PreparedCheck.checked(claim, prepared, changesNothing));
    }

    private static ObjectNode parse(String claim) {
        JsonNode tree = tree(Objects.requireNonNull(claim, "claim"));
        String apiVersion = tree.path("apiVersion").asText();
        String kind = tree.path("kind").asText();
        if (tree instanceof ObjectNode object && apiVersion.equals(API_VERSION) && kind.equals("ResourceClaim")) {
            return object;
        }
        throw new IllegalArgumentException("Not a ResourceClaim of %s; apiVersion is \"%s\" and kind is \"%s\""
                .formatted(API_VERSION, apiVersion, kind));
    }

    private static JsonNode tree(String claim) {
        try {
            return YAML.readTree(claim);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("The claim is neither YAML nor JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static String filledIn(ObjectNode metadata, String field, String otherwise) {
        if (!metadata.hasNonNull(field)) {
            metadata.put(field, otherwise);
        }
        return metadata.path(field).asText();
    }
}
