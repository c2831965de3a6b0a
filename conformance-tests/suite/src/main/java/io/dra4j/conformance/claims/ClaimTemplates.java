// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.settings.ManifestFiles;
import io.dra4j.testkit.settings.SettingsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The manifests of {@code driver.claims}: what claims of the driver's users look like. */
public final class ClaimTemplates {

    private static final String GROUP = "resource.k8s.io/";

    private final List<ClaimTemplate> templates;

    private ClaimTemplates(List<ClaimTemplate> templates) {
        this.templates = templates;
    }

    /**
     * Reads the setting.
     *
     * @param claims files with manifests, or manifests; none if claims have no certain shape
     * @throws SettingsException if they cannot be read or used
     */
    public static ClaimTemplates read(List<JsonNode> claims) {
        List<JsonNode> manifests = new ArrayList<>();
        for (JsonNode one : claims) {
            manifests.addAll(
                    one.isTextual() ? ManifestFiles.file("driver.claims", Path.of(one.asText())) : List.of(one));
        }
        Map<String, DeviceClass> classes = new LinkedHashMap<>();
        of("DeviceClass", manifests).map(DeviceClass::of).forEach(known -> classes.put(known.name(), known));
        List<ClaimTemplate> templates = new ArrayList<>();
        of("ResourceClaim", manifests).forEach(m -> templates.add(ClaimTemplate.of(m, classes)));
        of("ResourceClaimTemplate", manifests).forEach(m -> templates.add(ClaimTemplate.of(m, classes)));
        if (templates.isEmpty() && !claims.isEmpty()) {
            throw new SettingsException(
                    "driver.claims: there is no ResourceClaimTemplate and no ResourceClaim in the %d manifests of %s"
                            .formatted(manifests.size(), claims));
        }
        return new ClaimTemplates(List.copyOf(templates));
    }

    private static java.util.stream.Stream<JsonNode> of(String kind, List<JsonNode> manifests) {
        return manifests.stream()
                .filter(one -> one.path("apiVersion").asText().startsWith(GROUP))
                .filter(one -> one.path("kind").asText().equals(kind));
    }

    /** Returns whether claims have no certain shape. */
    public boolean isEmpty() {
        return templates.isEmpty();
    }

    List<ClaimTemplate> all() {
        return templates;
    }
}
