// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.error.DraException;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatusRulesTest {

    private static DeviceStatus conditions(int count) {
        return DeviceStatus.builder()
                .conditions(
                        IntStream.range(0, count)
                                .mapToObj(
                                        i -> new Condition("T" + i, ConditionStatus.TRUE, "R", ""))
                                .toList())
                .build();
    }

    private static DeviceStatus condition(String type, String reason, String message) {
        return DeviceStatus.of(new Condition(type, ConditionStatus.UNKNOWN, reason, message));
    }

    private static DeviceStatus data(String json) {
        return DeviceStatus.builder().data(json).build();
    }

    private static DeviceStatus network(
            @Nullable String name, @Nullable String address, String... ips) {
        return DeviceStatus.builder()
                .networkData(new NetworkData(name, List.of(ips), address))
                .build();
    }

    private static void refuses(DeviceStatus status) {
        assertThatThrownBy(() -> StatusRules.check(status)).isInstanceOf(DraException.class);
    }

    @Test
    void takesAllUpToTheLimits() {
        StatusRules.check(conditions(8));
        StatusRules.check(condition("example.com/Is.Ready_1", "a_b:c,D", "m".repeat(32_768)));
        StatusRules.check(condition("T", "r".repeat(1024), ""));
        StatusRules.check(data("{\"a\":\"" + "x".repeat(10_240 - 8) + "\"}"));
        StatusRules.check(network("i".repeat(256), "h".repeat(128)));
        StatusRules.check(
                network(
                        null,
                        null,
                        IntStream.range(0, 16)
                                .mapToObj(i -> "10.0.0." + i + "/32")
                                .toArray(String[]::new)));
    }

    @Test
    void refusesWhatIsBeyondThem() {
        refuses(conditions(9));
        refuses(condition("T", "R", "m".repeat(32_769)));
        refuses(condition("T", "R", "ü".repeat(16_385)));
        refuses(condition("T", "r".repeat(1025), ""));
        refuses(condition("", "R", ""));
        refuses(condition("-T", "R", ""));
        refuses(condition("T".repeat(64), "R", ""));
        refuses(condition("T", "", ""));
        refuses(condition("T", "Two words", ""));
        refuses(
                DeviceStatus.of(
                        new Condition("T", ConditionStatus.TRUE, "R", ""),
                        new Condition("T", ConditionStatus.FALSE, "R", "")));
        refuses(data("{\"a\":\"" + "x".repeat(10_240 - 7) + "\"}"));
        refuses(data("{}"));
        refuses(data("[1]"));
        refuses(data("null"));
        refuses(data("{"));
        refuses(network("i".repeat(257), null));
        refuses(network(null, "h".repeat(129)));
        refuses(network(null, null, "10.0.0.1/24", "10.0.0.1/24"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0/0", "255.255.255.255/32", "fd00::1/64", "::/0", "::1/128"})
    void takesCanonicalAddresses(String ip) {
        StatusRules.check(network(null, null, ip));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.1",
                "10.0.0/24",
                "10.0.0.1/33",
                "10.0.0.01/24",
                "10.0.0.256/24",
                "999.0.0.1/8",
                "10.0.0.1./24",
                "10.0.0.1/024",
                "FD00::1/64",
                "fd00:0::1/64",
                "fd00:0:0:0:0:0:0:1/64",
                "fd00::1/129",
                "::ffff:102:304/96",
                ":/1",
                "name/24",
                "fd00::1%eth0/64"
            })
    void refusesOthers(String ip) {
        refuses(network(null, null, ip));
    }

    @Test
    void namesOwnersWithinTheLimitOfTheApi() {
        assertThat(FieldOwner.of("d.example.com", "node-1")).isEqualTo("d.example.com/node-1");
        String a = FieldOwner.of("d.example.com", "n".repeat(200) + "a");
        String b = FieldOwner.of("d.example.com", "n".repeat(200) + "b");
        assertThat(a).hasSize(128).isNotEqualTo(b);
    }
}
