// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.example.FakeGpuProvider;
import io.dra4j.testkit.driver.Instance;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A driver in this JVM comes and goes with its test context. */
class ProviderDriverIT {

    private static final Map<String, JsonNode> NAMED = Map.of(
            "/driver/name", TextNode.valueOf("gpu.example.com"),
            "/driver/kind", TextNode.valueOf("in-process"));

    @Test
    void nothingOfItIsLeftWhenTheBenchIsClosed() {
        TestContext context = TestContext.open(
                SettingsReader.parse("", "none", NAMED),
                ProviderDriver.of(place -> new FakeGpuProvider(place.driver(), place.node(), 1), builder -> {}),
                "one");
        Instance driver = context.driver().start();
        assertThat(driver.isAlive()).isTrue();
        context.close();
        assertThat(driver.isAlive()).isFalse();
    }

    @Test
    void aProviderWithoutAnInventoryGetsTheTypeToReturn() {
        Outcome outcome = new Engine(
                        SettingsReader.parse("only: [DRA-PREP-01]\ntimeoutFactor: 0.1\n", "none", NAMED),
                        ProviderDriver.of(place -> new NoInventory(), builder -> {}),
                        Catalogue.load(),
                        Progress.NONE)
                .run();

        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.notes())
                .anyMatch(note -> note.contains("DeviceProvider.inventory() returned null; return Inventory.of()"));
    }

    /** Its author has not got to it yet. */
    private static final class NoInventory implements DeviceProvider {
        @Override
        @SuppressWarnings("NullAway")
        public Inventory inventory() {
            return null;
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
            throw new IllegalStateException("there is no device");
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {}
    }
}
