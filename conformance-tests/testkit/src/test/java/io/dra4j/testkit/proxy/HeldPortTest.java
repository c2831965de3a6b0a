// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.driver.Ended;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HeldPortTest {

    private static final int TIMES = 100;

    /** Prints the address of a held port. */
    public static void main(String[] args) throws IOException {
        try (HeldPort held = HeldPort.hold(0)) {
            System.out.println(held.address());
        }
    }

    private static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    @Test
    void aPortThatIsTakenLeavesNoSocketOpen() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            long before = openFiles();

            for (int i = 0; i < TIMES; i++) {
                assertThatThrownBy(() -> HeldPort.hold(taken.getLocalPort()))
                        .hasMessageContaining("is the port taken?");
            }

            assertThat(openFiles()).isLessThan(before + TIMES / 2);
        }
    }

    @Test
    void theAddressDoesNotDependOnThePreferenceForIpv6() throws Exception {
        List<String> java = List.of(
                Ended.jdk("java"),
                "-Djava.net.preferIPv6Addresses=true",
                "-cp",
                System.getProperty("java.class.path"),
                HeldPortTest.class.getName());

        assertThat(Ended.of(Map.of(), java).printed()).contains("/127.0.0.1:");
    }
}
