// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The extended resources by which device plugins offer the devices of a DRA driver.
 *
 * <p>Resources of the same vendor for other devices, such as NICs, are not included. Any resource in the driver's own
 * domain belongs to the driver.
 */
public final class LegacyResources {

    /** From the documentation of each vendor's device plugin. */
    private static final Map<String, Pattern> KNOWN = Map.of(
            "gpu.nvidia.com",
            Pattern.compile("nvidia\\.com/(gpu(\\.shared)?|mig-[0-9a-z.+-]+)"),
            "gpu.amd.com",
            Pattern.compile("amd\\.com/gpu"));

    private LegacyResources() {}

    /**
     * Returns the resources of a Node by which a device plugin offers a driver's devices.
     *
     * @param node the object
     * @return the resources with their amounts, such as {@code nvidia.com/gpu=8}; empty if all amounts are 0
     */
    public static List<String> offered(String driver, JsonNode node) {
        return offered(driver, NodeFacts.of(node));
    }

    static List<String> offered(String driver, NodeFacts node) {
        return node.allocatable().entrySet().stream()
                .filter(one -> !one.getValue().equals("0"))
                .filter(one -> isOf(driver, one.getKey()))
                .map(one -> one.getKey() + "=" + one.getValue())
                .toList();
    }

    private static boolean isOf(String driver, String resource) {
        Pattern known = KNOWN.get(driver);
        return resource.startsWith(driver + "/")
                || (known != null && known.matcher(resource).matches());
    }
}
