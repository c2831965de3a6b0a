// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.JavaProgram;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Nodes for {@link TestDriverMain}. */
final class TestDriver {

    static final String NAME = "gpu.example.com";

    private static List<String> archived; // guarded by the class

    private TestDriver() {}

    /** A node on which the driver starts fast. */
    static TestNode node() throws IOException, InterruptedException {
        return new TestNode(NAME, command());
    }

    /** The command of the driver with an archive of the classes that it needs for a claim. */
    static synchronized List<String> command() throws IOException, InterruptedException {
        if (archived == null) {
            archived = TestNode.archived(
                    NAME,
                    new JavaProgram(
                            Path.of("target/test-driver"),
                            JavaProgram.SHORT_LIVED,
                            JavaProgram.ownClassPath(),
                            TestDriverMain.class.getName()));
        }
        return archived;
    }

    /** Reserves a claim for a pod, as a scheduler does. */
    static void reserve(TestNode node, KubeletClaim claim, String pod) {
        node.api()
                .store()
                .changeStatus(
                        "resourceclaims",
                        "default",
                        claim.name(),
                        object -> object.withObject("/status")
                                .putArray("reservedFor")
                                .addObject()
                                .put("resource", "pods")
                                .put("name", pod)
                                .put("uid", "uid-of-" + pod));
    }
}
