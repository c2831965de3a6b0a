// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClaimPreviewTest {

    private record Clock(int megahertz) {}

    private static final ConfigType<Clock> CLOCK = ConfigType.builder("fpga.example.com/v1", "Clock", Clock.class)
            .validate(clock -> clock.megahertz() > 500 ? List.of("megahertz must be at most 500") : List.of())
            .build();

    private final ClaimPreview preview = ClaimPreview.of(
            "fpga.example.com",
            List.of(CLOCK),
            Inventory.of(Pool.ofNode("node-a", List.of(Device.builder("fpga-0").build()))));

    private static String claim(String device, String megahertz) throws IOException {
        return Files.readString(Path.of("src/test/resources/io/dra4j/runtime/claim.yaml"))
                .formatted(device, megahertz);
    }

    @Test
    void showsTheClaimAsTheProviderGetsIt() throws Exception {
        AllocatedClaim claim = preview.allocated(claim("fpga-0", "200"));

        assertThat(claim.ref()).isEqualTo(new ClaimRef("team-a", "crypto", "00000000-0000-0000-0000-000000000000"));
        assertThat(claim.devices()).singleElement().satisfies(device -> {
            assertThat(device.request()).isEqualTo("board");
            assertThat(device.deviceClass()).isEqualTo("fpga.example.com");
            assertThat(device.config(CLOCK))
                    .isEqualTo(new AppliedConfig<>(new Clock(200), ConfigSource.FROM_CLAIM, 0, List.of()));
        });
        assertThat(preview.refusal(claim("fpga-0", "200"))).isEmpty();
    }

    @Test
    void showsWhatTheOwnerOfThePodWouldSee() throws Exception {
        assertThat(preview.refusal(claim("fpga-0", "900")))
                .hasValueSatisfying(text -> assertThat(text).contains("megahertz must be at most 500"));
        assertThat(preview.refusal(claim("fpga-0", "fast")))
                .hasValueSatisfying(text -> assertThat(text).contains("megahertz"));
        assertThat(preview.refusal(claim("fpga-7", "200"))).hasValue("pool node-a has no device fpga-7");
        assertThatThrownBy(() -> preview.allocated(claim("fpga-7", "200")))
                .isInstanceOf(PrepareException.class)
                .hasMessage("pool node-a has no device fpga-7");
    }

    @Test
    void readsNothingButAnAllocatedClaim() throws Exception {
        assertThat(preview.refusal("{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\"}"))
                .hasValue("the claim is not allocated");

        assertThatThrownBy(() -> preview.refusal("kind: Pod\napiVersion: v1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Not a ResourceClaim of resource.k8s.io/v1; apiVersion is \"v1\" and kind is \"Pod\"");
        assertThatThrownBy(() -> preview.refusal("{"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The claim is neither YAML nor JSON: ");
    }
}
