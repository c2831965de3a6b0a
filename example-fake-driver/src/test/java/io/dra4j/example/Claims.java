// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claims of fake devices on node-a. */
final class Claims {

    static final ClaimRef REF = new ClaimRef("default", "claim", "uid");
    static final String SHARE = "11111111-2222-4333-8444-555555555555";

    private static final List<Object> DEFAULTS =
            Stream.of(GpuConfig.TYPE, NetConfig.TYPE)
                    .<Object>map(type -> type.defaults().get())
                    .toList();

    private Claims() {}

    /**
     * A device with its configs, the default ones if none is given, or a share of it if an id is
     * given.
     */
    static AllocatedDevice device(
            String name,
            @Nullable String share,
            Map<String, Quantity> consumed,
            boolean adminAccess,
            Object... configs) {
        return AllocatedDevice.builder(
                        HeldDevice.builder("request", new PoolName("node-a"), new DeviceName(name))
                                .shareId(share)
                                .consumedCapacity(consumed)
                                .adminAccess(adminAccess)
                                .build())
                .configs(
                        (configs.length == 0 ? DEFAULTS : List.of(configs))
                                .stream().map(Claims::applied).toList())
                .build();
    }

    static AllocatedDevice device(String name) {
        return device(name, null, Map.of(), false);
    }

    private static AppliedConfig<?> applied(Object config) {
        return new AppliedConfig<>(config, ConfigSource.DEFAULT, -1, List.of());
    }

    static PreparedClaim prepare(DeviceProvider provider, AllocatedDevice... devices)
            throws Exception {
        AllocatedClaim claim = AllocatedClaim.builder(REF).devices(List.of(devices)).build();
        return provider.prepare(claim, new NothingToRecord());
    }

    /** There is no progress, and no end to the time. */
    private static final class NothingToRecord implements ClaimContext {

        @Override
        public void checkpoint(ProviderState state) {
            throw new AssertionError("A fake device has nothing to record");
        }

        @Override
        public Instant deadline() {
            return Instant.MAX;
        }
    }
}
