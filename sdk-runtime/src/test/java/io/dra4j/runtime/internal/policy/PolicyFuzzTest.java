// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.validate.PoolRules;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Any text is a policy that can be published, or is refused in words for the admin. */
@Tag("counts")
class PolicyFuzzTest {

    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 100_000 : 3_000;
    private static final long SEED = 20261126;
    private static final String DRIVER = "gpu.example.com";
    private static final PolicyReader READER = new PolicyReader(DRIVER, "worker-7");
    private static final PoolRules LIMITS = new PoolRules(DRIVER, new SliceCodec(DRIVER, "worker-7")::refusals);
    private static final Inventory INVENTORY = Inventory.of(Pool.ofNode(
            "worker-7",
            List.of(
                    Device.builder("gpu-0")
                            .attribute("type", AttributeValue.of("gpu"))
                            .build(),
                    Device.builder("gpu-1").build())));
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
    void everyPolicyIsAppliedOrRefused() {
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
