// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSocketsTest {

    private static final Path REGISTRY = Path.of("/var/lib/kubelet/plugins_registry");
    private static final String UID = "0f8fad5b-d9cb-469f-a165-70867728950e";

    private static PluginSockets sockets(String driver, String uid) {
        return new PluginSockets(
                driver, REGISTRY, Path.of("/var/lib/kubelet/plugins").resolve(driver), uid);
    }

    @Test
    void areNamedAfterTheDriver() {
        PluginSockets sockets = sockets("gpu.example.com", null);

        assertThat(sockets.registration()).isEqualTo(REGISTRY.resolve("gpu.example.com-reg.sock"));
        assertThat(sockets.service()).isEqualTo(Path.of("/var/lib/kubelet/plugins/gpu.example.com/dra.sock"));
    }

    @Test
    void withAPodUidAreNamedAfterThePodToo() {
        PluginSockets sockets = sockets("gpu.example.com", UID);

        assertThat(sockets.registration()).isEqualTo(REGISTRY.resolve("gpu.example.com-" + UID + "-reg.sock"));
        assertThat(sockets.service().getFileName()).hasToString("dra-" + UID + ".sock");
    }

    /** The limits by driver name: 27 and 52 characters for registration, 36 for the service. */
    @ParameterizedTest
    @CsvSource({
        "27, 0f8fad5b-d9cb-469f-a165-70867728950e-reg.sock",
        "28, yBLh7bZEF9Y-reg.sock",
        "52, yBLh7bZEF9Y-reg.sock",
    })
    void aRegistrationNameIsHashedWhenItWouldBeTooLong(int length, String ending) {
        String driver = "d".repeat(length);

        Path path = sockets(driver, UID).registration();

        assertThat(path.getFileName()).hasToString(driver + "-" + ending);
        assertThat(path.toString().length()).isLessThanOrEqualTo(107);
    }

    @Test
    void theLongestDriverNameFits() {
        String driver = "d".repeat(63);

        assertThat(sockets(driver, UID).registration().getFileName().toString())
                .matches("dra-[A-Za-z0-9_-]{19}-reg\\.sock");
        assertThat(sockets(driver, UID).service().getFileName().toString()).matches("[A-Za-z0-9_-]{11}\\.sock");
        assertThat(sockets(driver, null).registration().toString()).hasSize(106);
    }

    @Test
    void aServiceNameIsHashedFrom37Characters() {
        assertThat(sockets("d".repeat(36), UID).service().toString()).hasSize(107);
        assertThat(sockets("d".repeat(37), UID).service().getFileName()).hasToString("dra-yBLh7bZEF9Y.sock");
    }

    @Test
    void aPathThatIsTooLongInAnyFormIsAnErrorThatSaysHowMuch() {
        Path deep = Path.of("/" + "x".repeat(100));
        PluginSockets sockets = new PluginSockets("gpu.example.com", deep, deep, null);

        assertThatThrownBy(sockets::service)
                .isInstanceOf(DraException.class)
                .hasMessageContaining("has 110 bytes, the kernel allows 107");
    }

    @ParameterizedTest
    @ValueSource(strings = {UID, "one", "a", "uid-1", "0f8fad5bd9cb469fa16570867728950e"})
    void aLaterInstanceKnowsTheNameForTheDriversOwn(String uid) {
        for (int length : new int[] {5, 28, 52, 63}) {
            String driver = "d".repeat(length);
            String name = sockets(driver, uid).registration().getFileName().toString();

            assertThat(sockets(driver, null).isOwnRegistration(name)).as(name).isTrue();
            assertThat(sockets("e" + driver.substring(1), null).isOwnRegistration(name))
                    .as(name)
                    .isFalse();
        }
    }

    /** A driver can be named like another and a UID that is no UUID. */
    @Test
    void aNameCanNotBeThatOfAnotherDriver() {
        assertThat(sockets("gpu.example.com", "one").registration())
                .isNotEqualTo(sockets("gpu.example.com-one", null).registration());
    }
}
