// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The stand-in of the kernel, where its pipes differ from the kernel's files. */
@Tag("slow")
class PciStandInTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    /** The kernel lets the writer go when it has acted; a pipe does before, and a session may begin between. */
    @RepeatedTest(6)
    void actsOnWhatAWriterWaitedForThoughASessionBegins() throws Exception {
        StandInNode node = StandInNode.install(folder, "h100-80");
        try (PciStandIn kernel = PciStandIn.install(node)) {
            String gpu = kernel.gpus().get(0);
            kernel.hold(PciStandIn.NVIDIA);
            CompletableFuture<FileInputStream> session =
                    CompletableFuture.supplyAsync(() -> sessionAfterUnbind(node, gpu));
            kernel.hold("");
            try (FileInputStream open = session.get()) {
                Await.until("unbound", SOON, () -> kernel.driverOf(gpu).isEmpty());
                assertThat(open.getChannel().isOpen()).isTrue();
            }
        }
    }

    private static FileInputStream sessionAfterUnbind(StandInNode node, String gpu) {
        try {
            Files.writeString(node.sysfs().resolve("bus/pci/drivers/nvidia/unbind"), gpu);
            return new FileInputStream(node.session().toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
