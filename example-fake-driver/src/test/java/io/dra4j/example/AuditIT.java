// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.ReferenceFile;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletStateFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The command {@code audit} on a node with the driver; its texts are those of the page. */
@Tag("gate")
class AuditIT {

    private static final Path PAGE = Path.of("../docs-site/how-to/audit-a-node.md");
    private static final String GPU = "gpu.example.com";
    private static final List<String> COMMAND = DriverJar.command();

    @AutoClose
    private final TestNode node = new TestNode(GPU, COMMAND);

    private KubeletClaim claim;

    @BeforeEach
    void prepareAClaim() throws Exception {
        node.startRegistered();
        node.awaitSlices(slices -> !slices.isEmpty());
        claim = node.allocate("train", "gpu-0");
        assertThat(node.prepare(claim).complaint()).isEmpty();
        KubeletStateFile.of(node.place().plugins()).write("""
                {"ClaimUID":"%s","ClaimName":"train","Namespace":"default","PodUIDs":{"p":{}},"DriverState":{"gpu.example.com":{"Devices":[{"PoolName":"node-1","DeviceName":"gpu-0"}]}}}""".formatted(claim.uid()));
    }

    private Path kubeletState() {
        return KubeletStateFile.of(node.place().plugins()).path();
    }

    private Ended audit(String... options) throws Exception {
        List<String> all = new ArrayList<>(COMMAND);
        all.add("audit");
        Ended ended = Ended.of(node.place().values(), all, options);
        return new Ended(ended.status(), shown(ended.output()));
    }

    /** The directories of a node in the place of the test's, and a UID that stays the same. */
    private String shown(String output) {
        return output.replace(node.place().plugins().toString(), "/var/lib/kubelet/plugins")
                .replace(kubeletState().toString(), "/var/lib/kubelet/dra_manager_state")
                .replace(node.place().cdi().toString(), "/var/run/cdi")
                .replace(claim.uid(), "8c7b1b6e-54f0-4c0c-8a8e-3f4f1a3f2d11");
    }

    private static void assertOnPage(String name, String text) throws Exception {
        new ReferenceFile(PAGE).assertHasBlock("<!-- audit: " + name + " -->\n```text\n", text);
    }

    @Test
    void theNodeIsHealthyUntilItsViewsDiffer() throws Exception {
        Ended healthy = audit();
        assertOnPage("healthy", healthy.output());
        assertThat(healthy.status()).isZero();

        Files.delete(kubeletState());
        Ended blind = audit("-o", "json");
        assertThat(blind.output()).contains("\"notChecked\"", "\"id\" : \"kubelet-forgot\"");
        assertThat(blind.status()).isEqualTo(2);

        node.kill(); // it would write the spec again
        for (String spec : node.specs()) {
            Files.delete(node.place().cdi().resolve(spec));
        }
        KubeletStateFile.of(node.place().plugins()).write();
        Ended found = audit();
        assertOnPage("found", found.output());
        assertThat(found.status()).isOne();
    }
}
