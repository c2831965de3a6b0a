// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.tools.audit.Views.OtherCheckpoint;
import io.dra4j.tools.audit.Views.View;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherCheckpointTest {

    private static final String FILE = """
            {"kind":"Checkpoint","apiVersion":"checkpoint.internal.example.com/v1","preparedClaims":[{"uid":"a"},{"uid":"b"}]}""";

    private static OtherCheckpoint decode(String text) {
        return OtherCheckpoint.decode(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theExampleDriversClaimsAreRead() {
        assertThat(decode(FILE).uids()).containsExactly("a", "b");
    }

    @Test
    void otherFormsListNothing() {
        assertThat(decode("{\"v2\":{\"preparedClaims\":{}}}").uids()).isEmpty();
        assertThat(decode("{\"preparedClaims\":{\"a\":{}}}").damage()).isEmpty();
        assertThat(decode("[]").uids()).isEmpty();
    }

    @Test
    void noFileIsNoClaim(@TempDir Path folder) {
        View<OtherCheckpoint> none = OtherCheckpoint.read(folder.resolve("checkpoint.json"));
        assertThat(none.get().uids()).isEmpty();
    }

    @Test
    void anyBytesAreReadOrDamaged() {
        Random random = new Random(20);
        int damaged = 0;
        for (int i = 0; i < 2000; i++) {
            byte[] flipped = FILE.getBytes(StandardCharsets.UTF_8);
            flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
            damaged += OtherCheckpoint.decode(flipped).damage().isEmpty() ? 0 : 1;
        }
        assertThat(damaged).isGreaterThan(200);
        assertThat(decode("").damage()).isEmpty();
    }
}
