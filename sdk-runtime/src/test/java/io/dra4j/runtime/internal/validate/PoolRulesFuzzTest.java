// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All that a provider can build gets a result, and what is accepted can be written. */
@Tag("slow")
@Tag("counts")
class PoolRulesFuzzTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    private static final int POOLS = Boolean.getBoolean("dra4j.nightly") ? 200_000 : 4_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(value = 10, unit = MINUTES)
    void allThatCanBeBuiltGetsAResult(long seed) {
        HostilePools pools = new HostilePools(new Random(seed));
        int accepted = 0;
        Set<String> rules = new TreeSet<>();
        for (int i = 0; i < POOLS; i++) {
            Pool pool = pools.next();
            List<Problem> problems = RULES.problems(pool);
            if (problems.isEmpty() && isPublished(pool)) {
                accepted++;
                assertThatNoException().isThrownBy(() -> write(pool));
            }
            assertThat(problems).hasSizeLessThanOrEqualTo(100);
            problems.forEach(problem -> rules.add(checked(problem, pool)));
        }
        assertThat(accepted).isBetween(POOLS / 100, POOLS - 1);
        System.out.printf(
                "fuzz: seed %d, %d pools, %d accepted, %d rules broken%n", seed, POOLS, accepted, rules.size());
    }

    private static boolean isPublished(Pool pool) {
        return !(pool.placement() instanceof Placement.PublishedElsewhere);
    }

    /** Returns the rule, without its numbers and amounts. */
    private static String checked(Problem problem, Pool pool) {
        assertThat(problem.pool()).isEqualTo(pool.name());
        assertThat(problem.field()).isNotEmpty();
        assertThat(problem.toString()).hasLineCount(1).hasSizeLessThan(2000);
        return problem.rule().replaceAll("[0-9\"].*|\\(.*", "");
    }

    private static void write(Pool pool) {
        Content content = new Content(pool.name(), 1, 1, pool.placement(), pool.devices(), pool.counterSets());
        assertThat(SliceCodec.canonical(SliceCodec.canonical(content))).isEqualTo(SliceCodec.canonical(content));
    }
}
