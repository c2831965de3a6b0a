// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.junit.DraNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The runnable jar on a node. */
@Tag("gate")
class FakeDriverProgramIT {

    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    @RegisterExtension
    final DraNode driver = DraNode.ofProcess("gpu.example.com", JAVA, "-jar", DriverJar.PATH.toString())
            .withServer(server -> server.version(KubernetesVersion.V1_34));

    @Test
    void preparesAGpu(TestNode node) {
        KubeletClaim claim = node.allocate("claim", "gpu-0");

        assertThat(node.prepare(claim).complaint()).isEmpty();
        assertThat(node.unprepare(claim).complaint()).isEmpty();
    }
}
