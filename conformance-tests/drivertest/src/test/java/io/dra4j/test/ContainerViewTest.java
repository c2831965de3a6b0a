// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerViewTest {

    private static final String SPEC = """
            cdiVersion: 0.8.0
            kind: example.com/fpga
            containerEdits:
              env: [BOARD=all, NODE=node-a]
              hooks: [{hookName: createContainer, path: /bin/hook}]
            devices:
            - name: a
              containerEdits:
                env: [BOARD=a, OPTS=x=y, DEBUG]
                deviceNodes: [{path: /dev/fpga, hostPath: /dev/fpga3}, {path: /dev/ctl}]
            - name: b
              containerEdits:
                mounts: [{hostPath: /opt/fpga, containerPath: /usr/lib/fpga}]
            """;

    @TempDir
    private Path etc;

    @TempDir
    private Path run;

    @BeforeEach
    void write() throws IOException {
        Files.writeString(etc.resolve("fpga.yaml"), SPEC);
        Files.writeString(etc.resolve("fpga.yaml.bak"), SPEC);
    }

    private ContainerView view(String... ids) {
        return ContainerView.of(List.of(etc, run), List.of(ids));
    }

    @Test
    void hasTheEditsOfTheDevicesAndOfTheirSpec() {
        ContainerView view = view("example.com/fpga=a", "example.com/fpga=b");

        assertThat(view.env())
                .containsOnly(entry("NODE", "node-a"), entry("BOARD", "a"), entry("OPTS", "x=y"), entry("DEBUG", ""));
        assertThat(view.deviceNodes()).containsOnly(entry("/dev/fpga", "/dev/fpga3"), entry("/dev/ctl", "/dev/ctl"));
        assertThat(view.mounts()).containsOnly(entry("/usr/lib/fpga", "/opt/fpga"));
        assertThat(view.rawJson()).hasSize(3).anyMatch(edit -> edit.contains("/bin/hook"));
        view.hasEnv("BOARD", "a").hasDeviceNode("/dev/ctl").hasMount("/opt/fpga", "/usr/lib/fpga");
    }

    @Test
    void hasNothingOfOtherDevices() {
        assertThat(view("example.com/fpga=b").deviceNodes()).isEmpty();
    }

    @Test
    void failsWithAllThatTheContainerHas() {
        ContainerView view = view("example.com/fpga=a");

        assertThatThrownBy(() -> view.hasEnv("BOARD", "b"))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("The container has no environment variable BOARD with b")
                .hasMessageContaining("BOARD=a");
        assertThatThrownBy(() -> view.hasDeviceNode("/dev/x")).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> view.hasMount("/opt/fpga", "/usr/lib/fpga")).isInstanceOf(AssertionError.class);
    }

    @Test
    void takesTheDeviceOfTheLaterDirectory() throws IOException {
        Files.writeString(run.resolve("fpga.json"), SPEC.replace("BOARD=a", "BOARD=later"));

        view("example.com/fpga=a").hasEnv("BOARD", "later");
    }

    @Test
    void needsExactlyOneDevice() throws IOException {
        assertThatThrownBy(() -> view("example.com/fpga=c"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("is in no spec");
        Files.writeString(etc.resolve("again.yaml"), SPEC);
        assertThatThrownBy(() -> view("example.com/fpga=a"))
                .isInstanceOf(AssertionError.class)
                .hasMessage("The CDI id example.com/fpga=a is defined more than once");
    }
}
