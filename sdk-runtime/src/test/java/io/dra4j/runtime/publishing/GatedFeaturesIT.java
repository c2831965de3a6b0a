// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Gates switched off, feature by feature: what is harmless is left out, and a device that would
 * lose what guards it is never seen in the cluster, not for a moment.
 */
@Tag("gate")
class GatedFeaturesIT {

    private static EmbeddedApiServer.Builder server() {
        return EmbeddedApiServer.builder().node(PublishingDriver.NODE);
    }

    @ParameterizedTest
    @EnumSource
    void withTheGateOffADeviceIsNeverSeenUnguarded(GatedFeature feature) throws Exception {
        try (EmbeddedApiServer api = server().featureGate(feature.gate, false).start();
                PublishingDriver driver = PublishingDriver.start(api, feature.pool("node-1"))) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            SliceHistory history = SliceHistory.of(api);
            assertThat(history.names()).contains("first", "last");
            if (feature.guards) {
                assertThat(history.names()).doesNotContain("special");
                driver.awaitProblem("node-1", "special", feature.gate.text());
            } else {
                assertThat(history.devices("special"))
                        .isNotEmpty()
                        .noneMatch(feature::isIn)
                        .allMatch(
                                device -> device.at("/attributes/model/string").isTextual());
                assertThat(driver.problems).isEmpty();
            }
            assertNothingRefused(driver);
        }
    }

    @ParameterizedTest
    @EnumSource
    void withTheGateOnItIsThereFromTheFirstMoment(GatedFeature feature) throws Exception {
        try (EmbeddedApiServer api = server().featureGate(feature.gate, true).start();
                PublishingDriver driver = PublishingDriver.start(api, feature.pool("node-1"))) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            SliceHistory history = SliceHistory.of(api);
            assertThat(history.devices("special")).isNotEmpty().allMatch(feature::isIn);
            assertThat(driver.problems).isEmpty();
            assertNothingRefused(driver);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "V1_36, /nodeAllocatableResourceMappings/cpu/capacityKey",
        "V1_37, /nodeAllocatableResources/cpu/mapping/capacityKey"
    })
    void allocatableResourcesHaveTheShapeOfTheRelease(KubernetesVersion release, String key) throws Exception {
        GatedFeature feature = GatedFeature.ALLOCATABLE;
        try (EmbeddedApiServer api = server().version(release)
                        .featureGate(feature.gate, true)
                        .start();
                PublishingDriver driver = PublishingDriver.start(api, feature.pool("node-1"))) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            assertThat(SliceHistory.of(api).devices("special"))
                    .isNotEmpty()
                    .allMatch(device -> device.at(key).asText().equals("example.com/cpu"));
            assertNothingRefused(driver);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDeviceThatChangesGoesAndComesBack(GatedFeature feature) throws Exception {
        Device plain = GatedFeature.plain("special");
        Device special =
                feature.addTo(plain.toBuilder().attribute("model", "guarded").build());
        Pool before = GatedFeature.poolOf("node-1", GatedFeature.plain("first"), plain);
        Pool after = GatedFeature.poolOf("node-1", GatedFeature.plain("first"), special);
        try (EmbeddedApiServer api = server().featureGate(feature.gate, false).start();
                PublishingDriver driver = PublishingDriver.start(api, before)) {
            assertThat(driver.awaitPublished()).isTrue();
            driver.publish(List.of(after));
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            List<JsonNode> guarded = SliceHistory.of(api).devices("special").stream()
                    .filter(d -> d.at("/attributes/model/string").asText().equals("guarded"))
                    .toList();
            assertThat(guarded.isEmpty()).isEqualTo(feature.guards);
            assertThat(driver.slices("node-1").toString().contains("special")).isNotEqualTo(feature.guards);

            driver.publish(List.of(before));
            assertThat(driver.awaitPublished()).isTrue();
            assertThat(driver.slices("node-1").toString()).contains("special");
            assertNothingRefused(driver);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRestartWithTheGateOffWritesNothing(GatedFeature feature) throws Exception {
        Pool pool = feature.pool("node-1");
        try (EmbeddedApiServer api = server().featureGate(feature.gate, false).start()) {
            try (PublishingDriver driver = PublishingDriver.start(api, pool)) {
                assertThat(driver.awaitPublished()).isTrue();
            }
            List<JsonNode> before = api.store().list(PublishingDriver.SLICES);
            try (PublishingDriver driver = PublishingDriver.start(api, pool)) {
                assertThat(driver.awaitPublished()).isTrue();
                assertThat(driver.proxy.requests(RecordedRequest::write))
                        .noneMatch(r -> r.resource().equals(PublishingDriver.SLICES));
            }
            assertThat(api.store().list(PublishingDriver.SLICES)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(KubernetesVersion.class)
    void allFeaturesAtOnceAreSafeOnEachRelease(KubernetesVersion release) throws Exception {
        Device[] devices = Arrays.stream(GatedFeature.values())
                .map(feature -> feature.addTo(GatedFeature.plain(
                        feature.name().toLowerCase(Locale.ROOT).replace('_', '-'))))
                .toArray(Device[]::new);
        try (EmbeddedApiServer api = server().version(release).start();
                PublishingDriver driver = PublishingDriver.start(api, GatedFeature.poolOf("node-1", devices))) {
            assertThat(driver.awaitPublished()).as("%s", driver.problems).isTrue();

            SliceHistory history = SliceHistory.of(api);
            for (GatedFeature feature : GatedFeature.values()) {
                boolean on = feature.gate.defaultIn(release);
                String name = feature.name().toLowerCase(Locale.ROOT).replace('_', '-');
                assertThat(history.names().contains(name))
                        .as("%s on %s", name, release)
                        .isEqualTo(on || !feature.guards);
                assertThat(history.devices(name)).allMatch(device -> feature.isIn(device) == on);
            }
            assertNothingRefused(driver);
        }
    }

    @Test
    void aPoolWhosePlacementTheServerDropsHoldsUpItselfAlone() throws Exception {
        Pool perDevice = Pool.builder(Pool.ofNode("roaming", List.of()).name().value())
                .placement(new Placement.PerDevice())
                .devices(List.of(GatedFeature.plain("special").toBuilder()
                        .placement(new Placement.AllNodes())
                        .build()))
                .build();
        try (EmbeddedApiServer api = server().featureGate(FeatureGate.DRA_PARTITIONABLE_DEVICES, false)
                        .start();
                PublishingDriver driver = PublishingDriver.start(
                        api, perDevice, GatedFeature.poolOf("zz", GatedFeature.plain("first")))) {
            driver.awaitProblem("roaming");
            api.store()
                    .awaitObject(
                            PublishingDriver.SLICES,
                            slice -> slice.at("/spec/devices/0/name").asText().equals("first"),
                            PublishingDriver.TIMEOUT);

            assertThat(SliceHistory.of(api).names()).contains("first").doesNotContain("special");
        }
    }

    /** A dry run may be refused: that, too, tells what the server keeps. */
    private static void assertNothingRefused(PublishingDriver driver) {
        assertThat(driver.refused()).filteredOn(RecordedRequest::write).isEmpty();
    }
}
