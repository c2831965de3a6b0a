// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.kubectl.Manifests;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class DoctorMainTest {

    private static final Path PAGE = Path.of("../../docs-site/how-to/find-what-is-wrong.md");

    /** A driver on a node, with a class, a claim that has a device, and a class for none. */
    private static final String HEALTHY = Manifests.read("doctor/healthy.yaml");

    @AutoClose
    private EmbeddedApiServer api;

    private int status;

    @TempDir
    private Path folder;

    @BeforeEach
    void start() {
        api = EmbeddedApiServer.builder().start();
        put(HEALTHY.formatted(Instant.now()));
    }

    private void put(String manifests) {
        ManifestObjects.putText(manifests, api.store());
    }

    private String run(String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(options));
        args.add("--kubeconfig=" + api.writeKubeconfig(folder.resolve("kubeconfig")));
        StringWriter out = new StringWriter();
        status = new CommandLine(new DoctorMain())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out))
                .execute(args.toArray(String[]::new));
        return out.toString();
    }

    @Test
    void aHealthyClusterIsOneScreenAsOnThePage() throws Exception {
        String text = run();

        assertThat(status).as(text).isZero();
        assertThat(Files.readString(PAGE)).contains("```text\n" + text + "```\n");
    }

    @Test
    void findingsAreThoseOfThePage() throws Exception {
        put(Manifests.read("doctor/findings.yaml"));

        String text = run();

        assertThat(status).isEqualTo(1);
        assertThat(Files.readString(PAGE)).contains("```text\n" + text + "```\n");
    }

    /** A failure that is fixed by the advice is not found again. */
    @Test
    void aDriverWithoutAClassIsFoundAndTheClassOfTheAdviceSelectsItsDevices() throws Exception {
        put("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceSlice
                metadata: {name: net-a}
                spec:
                  driver: dra.net
                  nodeName: gpu-1
                  pool: {name: gpu-1, generation: 1, resourceSliceCount: 1}
                  devices: [{name: eth0}]
                """);

        JsonNode findings = findings();

        assertThat(status).isEqualTo(1);
        assertThat(findings).hasSize(1);
        assertThat(findings.at("/0/object").asText()).isEqualTo("driver/dra.net");
        assertThat(run("--driver=gpu.nvidia.com")).contains("nothing found");

        String command = findings.at("/0/fix/0").asText();
        put(command.substring(command.indexOf('{'), command.lastIndexOf('}') + 1));
        assertThat(run()).contains("nothing found");
        assertThat(status).isZero();
    }

    /** Nodes of a template's devices come when a claim waits; classes of other drivers are not looked at. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Claim         | mig.nvidia.com | healthy      |                         | warning | selects none   | claim ml/slice
                    ClaimTemplate | absent         | healthy      |                         | error   | does not exist | template ml/slice
                    ClaimTemplate | mig.nvidia.com | healthy      |                         |         |                |
                    Claim         | mig.nvidia.com | healthy      | --driver=gpu.nvidia.com | warning | selects none   | claim ml/slice
                    Claim         | mig.nvidia.com | healthy      | --node=gpu-1            | warning | selects none   | claim ml/slice
                    Claim         | mig.nvidia.com | other-driver |                         | warning | selects none   | claim ml/slice
                    Claim         | mig.nvidia.com | other-driver | --driver=dra.net        |         |                |
                    Claim         | mig.nvidia.com | other-driver | --node=net-1            |         |                |
                    Claim         | absent         | other-driver |                         | error   | does not exist | claim ml/slice
                    Claim         | absent         | other-driver | --driver=dra.net        |         |                |
                    Claim         | absent         | other-driver | --node=net-1            |         |                |
                    """)
    void aClassIsFoundThatSelectsNothingForAClaimOrIsMissing(
            String kind, String name, String cluster, String option, String severity, String what, String subject)
            throws Exception {
        String devices = "devices: {requests: [{name: r, exactly: {deviceClassName: %s}}]}".formatted(name);
        put("""
                apiVersion: resource.k8s.io/v1
                kind: Resource%s
                metadata: {name: slice, namespace: ml}
                spec: {%s}
                """.formatted(kind, kind.equals("Claim") ? devices : "spec: {%s}".formatted(devices)));
        put(Manifests.read("doctor/" + cluster + ".yaml").formatted(Instant.now()));

        JsonNode findings = option == null ? findings() : findings(option);

        assertThat(status).isEqualTo(severity == null ? 0 : 1);
        assertThat(findings.findValuesAsText("object"))
                .isEqualTo(severity == null ? List.of() : List.of("deviceclass/" + name));
        if (severity != null) {
            assertThat(findings.at("/0/severity").asText()).isEqualTo(severity);
            assertThat(findings.at("/0/what").asText()).contains(what, subject);
        }
    }

    private JsonNode findings(String... options) throws Exception {
        return json(options).path("findings");
    }

    private JsonNode json(String... options) throws Exception {
        List<String> json = new ArrayList<>(List.of(options));
        json.add("--output=json");
        return new ObjectMapper().readTree(run(json.toArray(String[]::new)));
    }

    @Test
    void thePageListsTheChecksOfClusters() throws Exception {
        List<String> rows = Pattern.compile("(?m)^\\| `([a-z-]+)` \\| [^|]*\\bcluster\\b")
                .matcher(Files.readString(PAGE))
                .results()
                .map(row -> row.group(1))
                .toList();

        assertThat(rows).containsExactlyInAnyOrderElementsOf(checks());
    }

    private List<String> checks() throws Exception {
        List<String> checks = new ArrayList<>();
        JsonNode json = json("--service-account=a:b", "--node=gpu-1", "--driver=gpu.nvidia.com");
        for (String part : List.of("healthy", "notChecked")) {
            json.path(part).forEach(one -> checks.add(one.path("id").asText()));
        }
        return checks;
    }

    @Test
    void rightsOfADriverAreCheckedVerbByVerb() throws Exception {
        assertThat(run("--service-account=dra-nvidia:gpus"))
                .containsPattern("ok +rbac +system:serviceaccount:dra-nvidia:gpus has all 9 rights");
        assertThat(status).isZero();
        assertThat(api.requests()).containsEntry("create subjectaccessreviews", 9L);
    }

    @Test
    void anAccountWithoutANamespaceIsRefused() throws Exception {
        run("--service-account=gpus");

        assertThat(status).isEqualTo(2);
    }
}
