// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigTypeTest {

    private record Sharing(String mode) {}

    private record Other(String mode) {}

    private static final ConfigType<Sharing> PLAIN =
            ConfigType.builder("gpu.example.com/v1", "Sharing", Sharing.class).build();

    @Test
    void takesEveryEntryUnlessToldOtherwise() {
        assertThat(PLAIN.defaults()).isNull();
        assertThat(PLAIN.merge()).isNull();
        assertThat(PLAIN.normalize().apply(new Sharing("x"))).isEqualTo(new Sharing("x"));
        assertThat(PLAIN.validate().apply(new Sharing("x"))).isEmpty();
        assertThat(PLAIN.appliesTo().test(Device.builder("gpu-0").build())).isTrue();
        assertThat(PLAIN.sources()).containsExactlyInAnyOrder(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM);
    }

    @Test
    void eachSettingChangesItsOwnPartOfACopy() {
        ConfigType<Sharing> all = PLAIN.toBuilder()
                .defaults(() -> new Sharing("none"))
                .normalize(given -> new Sharing(given.mode().strip()))
                .validate(given -> List.of("bad " + given.mode()))
                .appliesTo(device -> false)
                .sources(ConfigSource.FROM_CLASS)
                .merge((first, second) -> new Sharing(first.mode() + second.mode()))
                .changesDevice(given -> given.mode().equals("x"))
                .build();

        assertThat(Optional.ofNullable(all.defaults()).orElseThrow().get()).isEqualTo(new Sharing("none"));
        assertThat(all.normalize().apply(new Sharing(" x "))).isEqualTo(new Sharing("x"));
        assertThat(all.validate().apply(new Sharing("x"))).containsExactly("bad x");
        assertThat(all.appliesTo().test(Device.builder("gpu-0").build())).isFalse();
        assertThat(all.sources()).containsExactly(ConfigSource.FROM_CLASS);
        assertThat(Optional.ofNullable(all.merge()).orElseThrow().apply(new Sharing("a"), new Sharing("b")))
                .isEqualTo(new Sharing("ab"));
        assertThat(all.changesDevice()).accepts(new Sharing("x")).rejects(new Sharing("y"));
        assertThat(PLAIN.changesDevice()).rejects(new Sharing("x"));
        assertThat(all.apiVersion()).isEqualTo("gpu.example.com/v1");
        assertThat(all.kind()).isEqualTo("Sharing");
        assertThat(PLAIN.defaults()).isNull();
    }

    @Test
    void aDeviceFindsItsConfigurationByKind() {
        AppliedConfig<Sharing> applied =
                new AppliedConfig<>(new Sharing("mps"), ConfigSource.FROM_CLAIM, 1, List.of("gpu"));

        assertThat(device(applied).findConfig(PLAIN)).contains(applied);
        assertThat(device(applied)
                        .findConfig(
                                ConfigType.builder("v1", "Other", Other.class).build()))
                .isEmpty();
    }

    private static AllocatedDevice device(AppliedConfig<?> config) {
        return AllocatedDevice.builder("gpu", new PoolName("node-a"), new DeviceName("gpu-0"))
                .configs(List.of(config))
                .build();
    }

    private record Inner(@Nullable Optional<String> note) {}

    private record Nested(@Nullable List<Map<String, Inner>> inner) {}

    private record Raw(@SuppressWarnings("rawtypes") List names) {}

    private record Times(Instant[] times) {}

    private record Opened(AutoCloseable port, Marked marked) {}

    @FunctionalInterface
    private interface Marked {
        void mark();
    }

    private record Old(@Order(1) Duration left) {}

    private record Many(Inner[] inners) {}

    private record Good(
            int[] lanes, List<Set<Good>> more, @Nullable Path path, List<String>[] grid) {}

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Nested | Nested.inner.note: JSON can't be decoded into java.util.Optional<java.lang.String>; use
                    Raw    | Raw.names: JSON can't be decoded into java.util.List; use
                    Times  | Times.times: JSON can't be decoded into java.time.Instant[]; use
                    Old    | Old.left: JSON can't be decoded into java.time.Duration; use
                    Many   | Many.inners.note: JSON can't be decoded into java.util.Optional<java.lang.String>; use
                    Opened | Opened.marked: JSON can't be decoded into io.dra4j.api.claim.ConfigTypeTest$Marked; use
                    """)
    void aTypeThatCanNotBeDecodedIsRefused(String name, String message) throws Exception {
        Class<?> type = Class.forName(ConfigTypeTest.class.getName() + "$" + name);

        assertThatThrownBy(() -> ConfigType.builder("v1", "Kind", type).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
        assertThat(ConfigType.builder("v1", "Kind", Good.class).build().type()).isEqualTo(Good.class);
    }
}
