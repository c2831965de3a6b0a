// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimRefTest {

    private static final String UID = "2f8f1c1e-9a0b-4a7e-8a43-0a8f3c9f7d11";

    @Test
    void showsNamespaceNameAndUid() {
        assertThat(new ClaimRef("team-a", "train.gpu", UID)).hasToString("team-a/train.gpu (UID " + UID + ")");
    }

    @ParameterizedTest
    @CsvSource({
        "Team, a, uid, namespace",
        "a.b, a, uid, namespace",
        "'', a, uid, namespace",
        "a, -a, uid, name",
        "a, a/b, uid, name",
        "a, a..b, uid, name",
        "a, '', uid, name",
        "a, a, u/d, UID",
        "a, a, .., UID",
        "a, a, '', UID"
    })
    void refusesAPartThatCouldNotBeUsedInAPath(String namespace, String name, String uid, String part) {
        assertThatThrownBy(() -> new ClaimRef(namespace, name, uid))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Not the " + part + " of a claim: ");
    }

    @Test
    void knowsTheLongestParts() {
        String name = ("a".repeat(61) + ".").repeat(4) + "a".repeat(5);

        assertThat(new ClaimRef("n".repeat(63), name, "u".repeat(63)).name()).hasSize(253);
        assertThatThrownBy(() -> new ClaimRef("n", name + "a", "u")).hasMessageContaining("name");
        assertThatThrownBy(() -> new ClaimRef("n".repeat(64), "a", "u")).hasMessageContaining("namespace");
        assertThatThrownBy(() -> new ClaimRef("n", "a", "u".repeat(64))).hasMessageContaining("UID");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\u001b[31m", "ä"})
    void showsNothingUnprintableInItsMessage(String name) {
        assertThatThrownBy(() -> new ClaimRef("ns", name, UID)).message().matches("\\p{Print}+");
    }

    @Test
    void cutsALongPartInItsMessage() {
        assertThatThrownBy(() -> new ClaimRef("ns", "A".repeat(10_000), UID))
                .message()
                .hasSizeLessThan(200);
    }
}
