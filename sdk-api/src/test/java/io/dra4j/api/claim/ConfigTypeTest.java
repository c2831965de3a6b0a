// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ConfigTypeTest {

    private record Sharing(String mode) {}

    private record Other(String mode) {}

    private static final ConfigType<Sharing> PLAIN =
            ConfigType.of("gpu.example.com/v1", "Sharing", Sharing.class);

    @Test
    void takesEveryEntryUnlessToldOtherwise() {
        assertThat(PLAIN.defaults()).isNull();
        assertThat(PLAIN.merge()).isNull();
        assertThat(PLAIN.normalize().apply(new Sharing("x"))).isEqualTo(new Sharing("x"));
        assertThat(PLAIN.problems().apply(new Sharing("x"))).isEmpty();
        assertThat(PLAIN.fits().test(Device.builder("gpu-0").build())).isTrue();
        assertThat(PLAIN.sources())
                .containsExactlyInAnyOrder(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM);
    }

    @Test
    void eachSettingChangesItsOwnPartOfACopy() {
        ConfigType<Sharing> all =
                PLAIN.defaultingTo(() -> new Sharing("none"))
                        .normalizedBy(given -> new Sharing(given.mode().strip()))
                        .validatedBy(given -> List.of("bad " + given.mode()))
                        .fitting(device -> false)
                        .onlyFrom(ConfigSource.FROM_CLASS)
                        .mergedBy((first, second) -> new Sharing(first.mode() + second.mode()));

        assertThat(Optional.ofNullable(all.defaults()).orElseThrow().get())
                .isEqualTo(new Sharing("none"));
        assertThat(all.normalize().apply(new Sharing(" x "))).isEqualTo(new Sharing("x"));
        assertThat(all.problems().apply(new Sharing("x"))).containsExactly("bad x");
        assertThat(all.fits().test(Device.builder("gpu-0").build())).isFalse();
        assertThat(all.sources()).containsExactly(ConfigSource.FROM_CLASS);
        assertThat(
                        Optional.ofNullable(all.merge())
                                .orElseThrow()
                                .apply(new Sharing("a"), new Sharing("b")))
                .isEqualTo(new Sharing("ab"));
        assertThat(all.apiVersion()).isEqualTo("gpu.example.com/v1");
        assertThat(all.kind()).isEqualTo("Sharing");
        assertThat(PLAIN.defaults()).isNull();
    }

    @Test
    void aDeviceFindsItsConfigurationByKind() {
        AppliedConfig<Sharing> applied =
                new AppliedConfig<>(new Sharing("mps"), ConfigSource.FROM_CLAIM, 1, List.of("gpu"));

        assertThat(device(applied).config(PLAIN)).contains(applied);
        assertThat(device(applied).config(ConfigType.of("v1", "Other", Other.class))).isEmpty();
    }

    private static AllocatedDevice device(AppliedConfig<?> config) {
        return new AllocatedDevice(
                "gpu",
                null,
                new PoolName("node-a"),
                new DeviceName("gpu-0"),
                null,
                Map.of(),
                false,
                null,
                List.of(config));
    }
}
