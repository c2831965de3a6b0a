// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.validate.PoolRules;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** Rules of an admin as they change devices, and the reasons why others are refused. */
class PolicyReaderTest {

    private static final String DRIVER = "gpu.example.com";
    private static final PolicyReader READER = new PolicyReader(DRIVER, "worker-7");

    private static Device device(String name, String type) {
        return Device.builder(name)
                .attribute("type", AttributeValue.of(type))
                .attribute("driverVersion", AttributeValue.version("580.1.0"))
                .build();
    }

    private static final Inventory INVENTORY = Inventory.of(Pool.ofNode(
            "worker-7",
            List.of(
                    device("gpu-0", "gpu"),
                    device("gpu-1", "gpu"),
                    device("gpu-10", "gpu"),
                    device("gpu-1-mig-1g.0".replace(".", "-"), "mig"))));

    private static List<Device> published(String policy) {
        return READER.read(policy).apply(INVENTORY).pools().get(0).devices();
    }

    private static List<String> names(String policy) {
        return published(policy).stream().map(device -> device.name().value()).toList();
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/runtime/internal/policy/excluded-devices-are-those-that-fit-all.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void excludedDevicesAreThoseThatFitAll(String match, String left) {
        assertThat(String.join(" ", names("rules: [{match: " + match + ", exclude: true}]")))
                .isEqualTo(left == null ? "" : left);
    }

    @Test
    void attributesAndTaintsAreAdded() {
        Device device = published("""
                                rules:
                                - match: {names: [gpu-0]}
                                  attributes:
                                    example.com/tier: {string: gold}
                                    example.com/rack: {int: 3}
                                    example.com/leased: {bool: false}
                                    example.com/firmware: {version: 1.2.3}
                                  taints:
                                  - {key: example.com/burn-in, value: "true", effect: NoSchedule}
                                - taints: [{key: example.com/note, effect: None}]
                                - match: {names: [gpu-0]}
                                  attributes: {example.com/tier: {string: silver}}
                                """).get(0);

        assertThat(device.attributes())
                .containsEntry("example.com/tier", AttributeValue.of("silver"))
                .containsEntry("example.com/rack", AttributeValue.of(3))
                .containsEntry("example.com/leased", AttributeValue.of(false))
                .containsEntry("example.com/firmware", AttributeValue.version("1.2.3"))
                .containsEntry("type", AttributeValue.of("gpu"));
        assertThat(device.taints())
                .containsExactly(
                        Taint.of("example.com/burn-in", "true", Taint.Effect.NO_SCHEDULE),
                        Taint.of("example.com/note", null, Taint.Effect.NONE));
    }

    @Test
    void noRulesChangeNothing() {
        assertThat(READER.read("rules: []").apply(INVENTORY)).isSameAs(INVENTORY);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/runtime/internal/policy/refused.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void whatCantBeIsNamed(String policy, String message) {
        assertThatThrownBy(() -> READER.read(policy))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void theLimitsOfADeviceAreThoseOfWhatItHasAlready() {
        Device.Builder full = Device.builder("gpu-0");
        IntStream.range(0, 32).forEach(i -> full.attribute("a" + i, AttributeValue.of(i)));
        Inventory inventory = Inventory.of(Pool.ofNode("worker-7", List.of(full.build())));
        DevicePolicy policy = READER.read("rules: [{attributes: {example.com/tier: {string: gold}}}]");

        READER.check(policy, INVENTORY);
        assertThatThrownBy(() -> READER.check(policy, inventory))
                .hasMessageContaining("device gpu-0")
                .hasMessageContaining("must not exceed 32");
    }

    @Test
    void anAttributeOfTheDriversStaysAndIsNamedOnceForAllRules() {
        Device device = Device.builder("gpu-0")
                .attribute("vendor.example.com/tier", AttributeValue.of(1))
                .build();
        Inventory inventory = Inventory.of(Pool.ofNode("worker-7", List.of(device)));
        String rule = "{attributes: {vendor.example.com/tier: {int: 2}}}";
        DevicePolicy policy = READER.read("rules: [" + rule + ", " + rule + "]");

        assertThatThrownBy(() -> READER.check(policy, inventory))
                .hasMessage("device gpu-0 has an attribute vendor.example.com/tier of the driver's;"
                        + " choose another name");
        assertThat(policy.apply(inventory)).isEqualTo(inventory); // of a device that comes later
    }

    @Test
    void whatIsWrongWithoutThePolicyIsNotBlamedOnIt() {
        Device wrong = Device.builder("gpu-0")
                .attribute("model", AttributeValue.of("x".repeat(65)))
                .build();
        Inventory inventory = Inventory.of(Pool.ofNode("worker-7", List.of(wrong)));
        DevicePolicy policy = READER.read("rules: [{taints: [{key: example.com/a, effect: None}]}]");

        assertThatCode(() -> READER.check(policy, inventory)).doesNotThrowAnyException();
    }

    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 100_000 : 3_000;
    private static final long SEED = 20261126;
    private static final PoolRules LIMITS = new PoolRules(DRIVER, new SliceCodec(DRIVER, "worker-7")::refusals);
    private static final String POLICY = """
            rules:
            - match:
                names: [gpu-0, "gpu-1*"]
                nodes: ["worker-*"]
                attributes: {type: {string: gpu}}
              attributes:
                example.com/tier: {string: gold}
                example.com/rack: {int: 3}
              taints:
              - {key: example.com/burn-in, value: "true", effect: NoSchedule}
            - match: {names: [gpu-1]}
              exclude: true
            """;
    private static final List<String> PIECES =
            List.of(("null~{}~[]~\"\"~-1~1e99~true~\"\\u0000\"~&a~*a~!!str~---~...~? ~: ~- ~%YAML 9~|~>"
                            + "~99999999999999999999~\"\\ud800\"~,~0.1~[[[[[[~{{{{{{~\t~\n~#~'~<<: ~"
                            + "\u0000~\ud83d\ude00~!!set {x}~2026-11-26~0x1F~.inf~.nan")
                    .split("~"));

    @Test
    @Tag("counts")
    void anyTextIsAPolicyThatCanBePublishedOrIsRefusedInWordsForTheAdmin() {
        Random random = new Random(SEED);
        int applied = 0;
        for (int i = 0; i < ROUNDS; i++) {
            String text = mutated(random);
            Optional<DevicePolicy> policy = read(text);
            if (policy.isPresent()) {
                applied++;
                Inventory result = policy.get().apply(INVENTORY);
                assertThat(LIMITS.problems(result.pools().get(0))).as(text).isEmpty();
            }
        }
        assertThat(applied).isBetween(ROUNDS / 100, ROUNDS * 9 / 10);
    }

    private static Optional<DevicePolicy> read(String text) {
        try {
            DevicePolicy policy = READER.read(text);
            READER.check(policy, INVENTORY);
            return Optional.of(policy);
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).as(text).isNotBlank().doesNotContain("io.dra4j", "java.");
            return Optional.empty();
        }
    }

    private static String mutated(Random random) {
        StringBuilder text = new StringBuilder(POLICY);
        for (int times = 1 + random.nextInt(3); times > 0; times--) {
            int from = random.nextInt(text.length());
            int to = Math.min(text.length(), from + random.nextInt(12));
            String piece = switch (random.nextInt(3)) {
                case 0 -> "";
                case 1 -> PIECES.get(random.nextInt(PIECES.size()));
                default -> {
                    int other = random.nextInt(POLICY.length());
                    yield POLICY.substring(other, Math.min(POLICY.length(), other + random.nextInt(30)));
                }
            };
            text.replace(from, to, piece);
        }
        return text.toString();
    }
}
