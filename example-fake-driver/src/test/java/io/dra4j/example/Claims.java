// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Claims of fake devices on node-a. */
final class Claims {

    static final ClaimRef REF = new ClaimRef("default", "claim", "uid");
    static final String SHARE = "11111111-2222-4333-8444-555555555555";

    private Claims() {}

    /** A device with its configs, or a share of it if an id is given. */
    static AllocatedDevice device(
            String name,
            @Nullable String share,
            Map<String, Quantity> consumed,
            boolean adminAccess,
            Object... configs) {
        return new AllocatedDevice(
                "request",
                null,
                new PoolName("node-a"),
                new DeviceName(name),
                share,
                consumed,
                adminAccess,
                null,
                List.of(configs).stream().map(Claims::applied).toList());
    }

    static AllocatedDevice device(String name) {
        return device(name, null, Map.of(), false);
    }

    private static AppliedConfig<?> applied(Object config) {
        return new AppliedConfig<>(config, ConfigSource.DEFAULT, -1, List.of());
    }

    static PreparedClaim prepare(DeviceProvider provider, AllocatedDevice... devices)
            throws Exception {
        AllocatedClaim claim = new AllocatedClaim(REF, List.of(devices), "{}");
        return provider.prepare(claim, new NothingToRecord());
    }

    /** There is no progress, and no end to the time. */
    private static final class NothingToRecord implements Progress {

        @Override
        public void record(ProviderState state) {
            throw new AssertionError("A fake device has nothing to record");
        }

        @Override
        public Instant deadline() {
            return Instant.MAX;
        }
    }
}
