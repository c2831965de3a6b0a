// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DraDriverTest {

    private static DraDriver.Builder builder() {
        return DraDriver.builder("gpu.example.com", "node-a", new ProviderWithoutClaims());
    }

    @ParameterizedTest
    @ValueSource(strings = {"../x", "a/b", "a b", ".", "-a", "a-", "ü", "\0"})
    void isNotBuiltWithWhatIsNoUidOfAPod(String uid) {
        assertThatThrownBy(() -> builder().podUid(uid).build())
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("Not the UID of a pod: \"" + uid + "\"; use metadata.uid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0f8fad5b-d9cb-469f-a165-70867728950e", "0123456789abcdef0123456789abcdef", "pod-1"})
    void isBuiltWithTheUidOfAPodOrNone(String uid) {
        assertThat(builder().podUid(uid).build()).isNotNull();
    }

    @Test
    void isNotBuiltWithAPortThatDoesNotExist() {
        assertThatThrownBy(() -> builder().healthcheckPort(65536).build())
                .isInstanceOf(DraException.class)
                .hasMessage("Not a TCP port: 65536; use one up to 65535");
        assertThat(builder().healthcheckPort(-7).build()).isNotNull();
    }

    @Test
    void isNotBuiltWithoutTheMetadataThatReadersRelyOn() {
        assertThatThrownBy(() -> builder().metadataVersions(MetadataVersion.V1ALPHA1))
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("metadataVersions: V1BETA1 is missing in [V1ALPHA1]");
        assertThatThrownBy(() -> builder().metadataVersions()).isInstanceOf(DraException.class);
        assertThat(builder().metadataVersions(MetadataVersion.V1BETA1).build()).isNotNull();
    }
}
