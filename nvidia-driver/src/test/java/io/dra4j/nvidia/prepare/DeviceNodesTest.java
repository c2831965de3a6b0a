// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.DeviceFolder;
import io.dra4j.nvidia.node.DriverRoot;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The node's folder of device nodes, and the one of this program's container. */
class DeviceNodesTest {

    @TempDir
    private Path folder;

    private StandInNode node;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder.resolve("usual"), "t4");
    }

    private final Path dev = Path.of("/dev");

    private Path nodes() throws IOException {
        Path nodes = Files.createDirectories(folder.resolve("container-dev"));
        for (String name : List.of("nvidiactl", "nvidia0", "nvidia-uvm", "nvidia-uvm-tools")) {
            Files.createFile(nodes.resolve(name));
        }
        return nodes;
    }

    private Edits edits(Path onNode, DeviceFolder dev) {
        Roots roots = new Roots(new DriverRoot(node.root(), onNode), dev, node.proc(), node.sysfs());
        return new Edits(roots, HookProgram.at(Path.of("/usr/bin/nvidia-cdi-hook")));
    }

    @Test
    void theNodesOwnFolderCountsIfTheDriverRootIsTheNodes() throws IOException {
        Files.delete(node.root().resolve("dev/nvidiactl"));
        Edits edits = edits(Path.of("/"), new DeviceFolder(dev, false, nodes(), true));

        assertThatThrownBy(() -> edits.common(VERSION))
                .isInstanceOf(PrepareException.class)
                .hasMessageStartingWith("Device node /dev/nvidiactl does not exist on the node");

        Files.createFile(node.root().resolve("dev/nvidiactl"));
        assertThat(edits.common(VERSION).deviceNodes()).contains(DeviceNode.of("/dev/nvidiactl"));
    }

    @Test
    void whatIsMissingAndNotNeededIsLoggedOnce() {
        Logger logger = (Logger) LoggerFactory.getLogger(Edits.class);
        logger.setLevel(Level.INFO);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        Edits edits = new Edits(node.roots(), HookProgram.at(node.hook()));
        edits.common(VERSION);
        edits.common(VERSION);
        logger.detachAppender(log);
        logger.setLevel(null);

        assertThat(log.list)
                .filteredOn(event -> event.getKeyValuePairs().toString().contains(node.root() + "/dev/nvidia-modeset"))
                .singleElement()
                .satisfies(
                        event -> assertThat(event.getKeyValuePairs().toString()).contains("nvidia-imex"));
    }

    @Test
    void aContainersCopyIsNotTakenForIt() throws IOException {
        Path elsewhere = Path.of("/home/kubernetes/bin/nvidia");
        Files.move(node.root().resolve("dev"), folder.resolve("moved"));
        Path nodes = nodes();

        assertThatThrownBy(() -> edits(elsewhere, new DeviceFolder(dev, false, nodes, false))
                        .common(VERSION))
                .isInstanceOf(PrepareException.class)
                .hasMessageContainingAll("/dev/nvidiactl", "is a snapshot", "--container-dev-root");
        assertThat(edits(elsewhere, DeviceFolder.of(null, nodes))
                        .common(VERSION)
                        .deviceNodes())
                .contains(DeviceNode.of("/dev/nvidiactl"));
    }

    @Test
    void aDriverThatIsElsewhereAndMakesNoneHasItsNodesInDev() throws IOException {
        Files.delete(node.root().resolve("dev/nvidiactl"));
        Roots roots = new Roots(
                new DriverRoot(node.root(), Path.of("/run/nvidia/driver")),
                DeviceFolder.of(null, null),
                node.proc(),
                node.sysfs());

        assertThat(roots.devices()).isEqualTo(dev);
        assertThat(new DeviceNodes(roots).node("nvidia0")).isEqualTo(DeviceNode.of("/dev/nvidia0"));
    }
}
