// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {

    @Nested
    class OfDevices {

        @ParameterizedTest
        @ValueSource(strings = {"gpu-0", "0", "a", "gpu--0", "0000-65-00-0"})
        void areDnsLabels(String name) {
            assertThat(new DeviceName(name)).hasToString(name);
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "-gpu", "gpu-", "GPU", "gpu.0", "gpu_0", "gpu/0", "gpu\n", "gpü"})
        void areNothingElse(String name) {
            assertThatThrownBy(() -> new DeviceName(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("Not a device name: \"" + name + "\"");
        }

        @Test
        void haveAtMost63Characters() {
            assertThat(new DeviceName("a".repeat(63)).value()).hasSize(63);
            assertThatThrownBy(() -> new DeviceName("a".repeat(64))).isInstanceOf(IllegalArgumentException.class);
        }

        @Test
        void areOrderedAsText() {
            assertThat(new DeviceName("gpu-10")).isLessThan(new DeviceName("gpu-2"));
        }
    }

    @Nested
    class OfPools {

        @ParameterizedTest
        @ValueSource(strings = {"node-a", "node-a.example.com", "rack-1/node-a", "a/b.c/d"})
        void areSubdomainsJoinedBySlashes(String name) {
            assertThat(new PoolName(name)).hasToString(name);
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "/", "a/", "/a", "a//b", "A", "a..b", ".a", "a_b", "a\n"})
        void areNothingElse(String name) {
            assertThatThrownBy(() -> new PoolName(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("Not a pool name: \"" + name + "\"");
        }

        @Test
        void haveAtMost253Characters() {
            String longest = ("a".repeat(63) + "/").repeat(3) + "a".repeat(61);

            assertThat(new PoolName(longest).value()).hasSize(253);
            assertThatThrownBy(() -> new PoolName(longest + "a")).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
