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

    @Test
    void aDriverWithoutAClassIsFound() throws Exception {
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

        JsonNode json = json();

        assertThat(json.at("/findings")).hasSize(1);
        assertThat(json.at("/findings/0/object").asText()).isEqualTo("driver/dra.net");
        assertThat(run("--driver=gpu.nvidia.com")).contains("nothing found");
    }

    /** A failure that is fixed by the advice is not found again. */
    @Test
    void theClassOfTheAdviceSelectsTheDevices() throws Exception {
        aDriverWithoutAClassIsFound();
        String command = json().at("/findings/0/fix/0").asText();
        put(command.substring(command.indexOf('{'), command.lastIndexOf('}') + 1));

        assertThat(run()).contains("nothing found");
        assertThat(status).isZero();
    }

    private static final String CLAIM = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {name: slice, namespace: ml}
            spec: {devices: {requests: [{name: r, exactly: {deviceClassName: %s}}]}}
            """;

    private static final String TEMPLATE = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaimTemplate
            metadata: {name: slice, namespace: ml}
            spec:
              spec: {devices: {requests: [{name: r, exactly: {deviceClassName: %s}}]}}
            """;

    @Test
    void aClassWithoutDevicesThatAClaimWaitsForIsFound() throws Exception {
        put(CLAIM.formatted("mig.nvidia.com"));

        JsonNode findings = json().at("/findings");

        assertThat(findings).hasSize(1);
        assertThat(findings.at("/0/severity").asText()).isEqualTo("warning");
        assertThat(findings.at("/0/what").asText()).contains("selects none", "claim ml/slice");
    }

    @Test
    void aClassThatIsMissingIsFound() throws Exception {
        put(TEMPLATE.formatted("absent"));

        JsonNode findings = json().at("/findings");

        assertThat(findings).hasSize(1);
        assertThat(findings.at("/0/severity").asText()).isEqualTo("error");
        assertThat(findings.at("/0/what").asText()).contains("does not exist", "template ml/slice");
    }

    /** Nodes of its devices come when a claim waits. */
    @Test
    void aTemplateMayAskForDevicesThatAreNotThere() throws Exception {
        put(TEMPLATE.formatted("mig.nvidia.com"));

        assertThat(run()).contains("nothing found");
        assertThat(status).isZero();
    }

    @ParameterizedTest
    @CsvSource({"mig.nvidia.com", "absent"})
    void classesOfOtherDriversAreNotLookedAt(String name) throws Exception {
        put(CLAIM.formatted(name));
        put(Manifests.read("doctor/other-driver.yaml"));

        assertThat(found()).containsExactly("deviceclass/" + name);
        assertThat(found("--driver=dra.net")).isEmpty();
        assertThat(found("--node=net-1")).isEmpty();
    }

    @Test
    void theClassOfADriverThatIsLookedAtIsFound() throws Exception {
        put(CLAIM.formatted("mig.nvidia.com"));

        assertThat(found("--driver=gpu.nvidia.com")).containsExactly("deviceclass/mig.nvidia.com");
        assertThat(found("--node=gpu-1")).containsExactly("deviceclass/mig.nvidia.com");
    }

    private List<String> found(String... options) throws Exception {
        List<String> json = new ArrayList<>(List.of(options));
        json.addAll(List.of("-o", "json"));
        JsonNode findings =
                new ObjectMapper().readTree(run(json.toArray(String[]::new))).at("/findings");
        return findings.findValuesAsText("object");
    }

    private JsonNode json() throws Exception {
        String text = run("-o", "json");
        assertThat(status).isEqualTo(1);
        return new ObjectMapper().readTree(text);
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
        JsonNode json = new ObjectMapper()
                .readTree(run("-o", "json", "--service-account=a:b", "--node=gpu-1", "--driver=gpu.nvidia.com"));
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
