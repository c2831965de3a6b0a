// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.device.Device;

/** Decodes claims and devices for tests of other packages. */
public final class ClaimDecoding {

    private ClaimDecoding() {}

    public static ClaimObject decode(String json) {
        return ClaimCodec.decode(json);
    }

    public static Device device(String json) {
        return DeviceCodec.decode(Json.parse(json));
    }
}
