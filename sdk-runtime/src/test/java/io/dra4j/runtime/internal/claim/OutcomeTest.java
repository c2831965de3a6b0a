// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** To the kubelet, an empty error is success: a failure must never look like that. */
class OutcomeTest {

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " "})
    void aFailureWithoutAMessageIsStillAFailure(String message) {
        assertThat(new PrepareOutcome.Failed(message).message()).isNotBlank();
        assertThat(new UnprepareOutcome.Failed(message).message()).isNotBlank();
    }

    @Test
    void aLongMessageIsCutBetweenCharacters() {
        for (String character : new String[] {"x", "é", "€", "𝄞"}) {
            String message = new PrepareOutcome.Failed(character.repeat(9000)).message();

            assertThat(message.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(4000, 4096);
            assertThat(message).startsWith(character).endsWith("log has the full message)");
            assertThat(message).doesNotContain("\uFFFD").matches(".*" + character + " ….*");
        }
    }

    @Test
    void aMessageIsKeptAndWhatIsNotTextIsReplaced() {
        String message = new UnprepareOutcome.Failed("a\uD834b\u0000c\nd").message();

        assertThat(message).isEqualTo("a\uFFFDb c d");

        assertThat(new PrepareOutcome.Failed("no such device").message()).isEqualTo("no such device");
        assertThat(new UnprepareOutcome.Failed("busy").message()).isEqualTo("busy");
    }
}
