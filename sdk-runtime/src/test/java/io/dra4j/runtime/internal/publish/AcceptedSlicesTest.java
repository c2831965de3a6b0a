// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.publish.ServerFeatures.AcceptedSlices;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The memory of slices that no rule refuses. */
class AcceptedSlicesTest {

    private static final FieldError ERROR = new FieldError("FieldValueInvalid", "spec", "wrong");
    private static final FeatureGates GATES = new FeatureGates(KubernetesVersion.V1_36, Map.of());

    private final List<Content> judged = new ArrayList<>();

    private List<FieldError> judge(Content content, FeatureGates gates) {
        judged.add(content);
        return content.devices().isEmpty() ? List.of(ERROR) : List.of();
    }

    private static Content slice(String... devices) {
        return PublisherUnderTest.content("p")
                .withDevices(Stream.of(devices)
                        .map(name -> Device.builder(name).build())
                        .toList());
    }

    @Test
    void theLastSliceOfADeviceIsAcceptedWithoutTheBook() {
        AcceptedSlices slices = new AcceptedSlices(this::judge);
        Content changed = slice("a").at(2, 1);

        for (Content slice : List.of(slice("a"), slice("a"), slice("b"), changed, slice("a"))) {
            assertThat(slices.apply(slice, GATES)).isEmpty();
        }
        assertThat(judged).containsExactly(slice("a"), slice("b"), changed, slice("a"));

        slices.retain(Pool.ofNode("p", slice("b").devices()));
        slices.apply(slice("b"), GATES);
        slices.apply(slice("a"), GATES);
        assertThat(judged).hasSize(5);
    }

    @Test
    void aRefusedSliceAndAnotherServerAreForTheBook() {
        AcceptedSlices slices = new AcceptedSlices(this::judge);
        slices.apply(slice("a"), GATES);

        slices.apply(slice("a"), new FeatureGates(KubernetesVersion.V1_34, Map.of()));
        assertThat(slices.apply(slice(), GATES)).containsExactly(ERROR);
        assertThat(slices.apply(slice(), GATES)).containsExactly(ERROR);

        assertThat(judged).hasSize(4);
    }
}
