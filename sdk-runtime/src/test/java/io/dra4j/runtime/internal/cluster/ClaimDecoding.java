// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Decodes and reads claims and devices for tests of other packages. */
public final class ClaimDecoding {

    private ClaimDecoding() {}

    public static ClaimObject decode(String json) {
        return ClaimCodec.decode(json);
    }

    public static Device device(String json) {
        return DeviceCodec.decode(Json.parse(json));
    }

    /** A reader of lists of claims, which reads no single one. */
    public static ClaimReader listing(Supplier<Map<ClaimRef, ClaimObject>> claims) {
        return new ClaimReader() {
            @Override
            public ClaimObject read(ClaimRef claim, Duration limit) {
                throw new AssertionError("no single claim is read");
            }

            @Override
            public void readAll(Duration limit, BiConsumer<ClaimRef, ClaimObject> each) {
                claims.get().forEach(each);
            }
        };
    }
}
