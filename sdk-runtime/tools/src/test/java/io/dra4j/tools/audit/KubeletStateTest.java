// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KubeletStateTest {

    private static final String DRIVER = "test-driver.cdi.k8s.io";
    private static final String UID = "067798be-454e-4be4-9047-1aa06aea63f7";

    /** The sum is the one that the kubelet's own tests expect of this claim. */
    private static final byte[] FILE = file("1", 1656016162L).getBytes(StandardCharsets.UTF_8);

    private static String file(String version, long sum) {
        String data = """
                {"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v%s",\
                "ClaimInfoStateList":[{"ClaimUID":"%s","ClaimName":"example","Namespace":"default",\
                "PodUIDs":{"139cdb46-f989-4f17-9561-ca10cfb509a6":{}},"DriverState":{"%s":\
                {"Devices":[{"PoolName":"worker-1","DeviceName":"dev-1","RequestNames":["test request"],\
                "CDIDeviceIDs":["example.com/example=cdi-example"]}]}}}]}""".formatted(version, UID, DRIVER);
        return "{\"Data\":\"%s\",\"Checksum\":%d}".formatted(data.replace("\"", "\\\""), sum);
    }

    @Test
    void theKubeletsFileIsRead() {
        KubeletState state = KubeletState.decode(FILE, DRIVER);

        assertThat(state.damage()).isEmpty();
        assertThat(state.claims())
                .containsExactly(new KubeletClaim(
                        new ClaimRef("default", "example", UID),
                        List.of("139cdb46-f989-4f17-9561-ca10cfb509a6"),
                        List.of("worker-1/dev-1")));
    }

    @Test
    void aClaimWithoutDevicesOfTheDriverIsKnownAndNotPrepared() {
        KubeletState state = KubeletState.decode(FILE, "nic.example.com");

        assertThat(state.prepared()).isEmpty();
        assertThat(state.claim(UID).orElseThrow().pods()).containsExactly("139cdb46-f989-4f17-9561-ca10cfb509a6");
    }

    @Test
    void aLaterVersionIsNotChecked() {
        long sum = 3102632483L;
        String later = file("2", sum);
        assertThatThrownBy(() -> KubeletState.decode(later.getBytes(StandardCharsets.UTF_8), DRIVER))
                .isInstanceOf(NotCheckedException.class)
                .hasMessageContaining("checkpoint.dra.kubelet.k8s.io/v2");
    }

    @Test
    void aFileWithFlippedBytesIsDamaged() {
        Random random = new Random(20);
        for (int i = 0; i < 2000; i++) {
            byte[] flipped = FILE.clone();
            int at = random.nextInt(flipped.length);
            flipped[at] ^= (byte) (1 << random.nextInt(8));

            KubeletState state = KubeletState.decode(flipped, DRIVER);

            assertThat(state.damage()).as("byte %s", at).isNotEmpty();
            assertThat(state.claims()).isEmpty();
        }
    }

    @Test
    void aFileThatEndsEarlyIsDamaged() {
        for (int length = 0; length < FILE.length; length++) {
            assertThat(KubeletState.decode(Arrays.copyOf(FILE, length), DRIVER).damage())
                    .as("of %s bytes", length)
                    .isNotEmpty();
        }
    }
}
