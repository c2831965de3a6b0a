// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.device.AttributeValue;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a device, which the containers of a claim can read in a file.
 *
 * @param attributes attributes of the device, by name
 * @param networkData the interface and addresses of a network device, or {@code null}
 * @see <a href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5304-dra-attributes-downward-api">
 *     KEP-5304</a>
 */
public record DeviceMetadata(Map<String, AttributeValue> attributes, DeviceStatus.@Nullable NetworkData networkData) {

    /** Copies the map. */
    public DeviceMetadata {
        attributes = Map.copyOf(Objects.requireNonNull(attributes, "attributes"));
    }
}
