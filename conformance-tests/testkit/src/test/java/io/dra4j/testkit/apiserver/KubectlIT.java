// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.driver.Ended;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real kubectl against the server. Skips itself without kubectl. */
@Timeout(120)
class KubectlIT {
    private static final String MANIFEST = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceSlice
            metadata: {name: s1}
            spec:
              driver: gpu.example.com
              nodeName: node-1
              pool: {name: node-1, generation: 1, resourceSliceCount: 1}
              devices:
              - name: gpu-0
            ---
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {name: c1, namespace: default}
            spec:
              devices:
                requests:
                - name: gpu
                  exactly: {deviceClassName: gpu.example.com}
            """;

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder()
            .version(KubernetesVersion.V1_34)
            .node("node-1")
            .start();

    @TempDir
    private Path folder;

    private Path kubeconfig;

    @BeforeAll
    static void needsKubectl() {
        assumeTrue(Ended.onPath("kubectl").isPresent(), "no kubectl on the PATH: nothing to try the server with");
    }

    @BeforeEach
    void login() throws IOException {
        kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"));
    }

    private ProcessBuilder command(String... arguments) {
        List<String> command = new ArrayList<>(List.of("kubectl", "--cache-dir", folder + "/cache"));
        command.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    private Ended kubectl(String... arguments) throws Exception {
        return Ended.of(Map.of(), command(arguments).command());
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name + ".yaml"), text);
    }

    private String applied(String manifest) throws Exception {
        return kubectl("apply", "-f", file("manifest", manifest).toString()).printed();
    }

    @Test
    void asksForVersionAndResources() throws Exception {
        assertThat(kubectl("version").output()).contains("Server Version: v1.34");
        assertThat(kubectl("api-resources").output())
                .contains("resourceslices")
                .contains("resource.k8s.io/v1")
                .contains("leases");
    }

    @Test
    void appliesChangesAndDeletes() throws Exception {
        assertThat(applied(MANIFEST)).contains("resourceslice.resource.k8s.io/s1 created");
        assertThat(applied(MANIFEST)).contains("s1 unchanged");
        assertThat(applied(MANIFEST.replace("gpu-0", "gpu-1")))
                .contains("s1 configured")
                .doesNotContainIgnoringCase("warning: error");
        assertThat(server.store().find("resourceslices", "", "s1").orElseThrow().toString())
                .contains("gpu-1");

        assertThat(kubectl("delete", "resourceslice", "s1").output()).contains("\"s1\" deleted");
        assertThat(server.store().list("resourceslices")).isEmpty();
    }

    @Test
    void appliesOnTheServerAsSeveralManagers() throws Exception {
        Path claim = file("claim", MANIFEST.split("---")[1]);
        Path labelled = file("labelled", label("one"));
        Path other = file("other", label("two"));

        assertThat(onServer("one", claim).output()).contains("c1 serverside-applied");
        assertThat(onServer("two", labelled).output()).contains("c1 serverside-applied");
        Ended conflict = onServer("three", other);
        assertThat(conflict.status()).isNotZero();
        assertThat(conflict.output())
                .contains("Apply failed with 1 conflict: conflict with \"two\"")
                .contains(".metadata.labels.a");
        assertThat(onServer("three", other, "--force-conflicts").status()).isZero();
        assertThat(kubectl("get", "resourceclaim", "c1", "-o", "yaml").output())
                .contains("a: two")
                .doesNotContain("managedFields");
    }

    private static String label(String value) {
        return """
               apiVersion: resource.k8s.io/v1
               kind: ResourceClaim
               metadata: {name: c1, namespace: default, labels: {a: %s}}
               """.formatted(value);
    }

    private Ended onServer(String manager, Path file, String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("apply", "--server-side"));
        arguments.addAll(List.of("--field-manager", manager, "-f", file.toString()));
        arguments.addAll(List.of(more));
        return kubectl(arguments.toArray(String[]::new));
    }

    @Test
    void refusesAnUnknownFieldAndAnInvalidOne() throws Exception {
        Path odd = file("odd", MANIFEST.replace("driver:", "drivr: x\n  driver:"));
        Path invalid = file("invalid", MANIFEST.replace("gpu-0", "GPU"));

        assertThat(kubectl("apply", "-f", odd.toString()).output()).contains("unknown field \"spec.drivr\"");
        assertThat(kubectl("apply", "-f", invalid.toString()).output())
                .contains("The ResourceSlice \"s1\" is invalid: spec.devices[0].name");
    }

    @Test
    void showsObjectsAsTablesAndAsYaml() throws Exception {
        applied(MANIFEST);

        assertThat(kubectl("get", "resourceslices").output())
                .containsPattern("NAME +NODE +DRIVER +POOL +AGE\ns1 +node-1 +gpu.example.com +node-1");
        assertThat(kubectl("get", "resourceclaims", "-A").output())
                .containsPattern("NAMESPACE +NAME +STATE +AGE\ndefault +c1 +pending");
        assertThat(kubectl("get", "resourceslices", "-o", "yaml").output())
                .contains("- name: gpu-0")
                .contains("kind: ResourceSlice");
        assertThat(kubectl("get", "resourceslice", "none").output())
                .contains("resourceslices.resource.k8s.io \"none\" not found");
    }

    @Test
    void followsAChangeAsARowOfATable() throws Exception {
        applied(MANIFEST);
        Process watch = command("get", "resourceslices", "--watch").start();
        try (BufferedReader lines = watch.inputReader(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).matches("NAME +NODE +DRIVER +POOL +AGE");
            assertThat(lines.readLine()).matches("s1 +node-1 +gpu.example.com +node-1.*");

            server.store().put(Trees.tree(slice("s1", 2)));

            assertThat(lines.readLine()).matches("s1 +node-1 +gpu.example.com +node-1 +[0-9a-z]+");
        } finally {
            watch.destroy();
            assertThat(watch.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
