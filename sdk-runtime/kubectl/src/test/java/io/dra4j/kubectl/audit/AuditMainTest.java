// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.kubectl.Manifests;
import io.dra4j.testkit.ReferenceFile;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command on a server whose objects come and go while it reads them. */
class AuditMainTest {

    private static final Path PAGE = Path.of("../../docs-site/how-to/audit-a-node.md");

    /** A pod waits for its claim, and no node has devices. */
    private static final String PENDING = Manifests.read("audit/pending.yaml");

    /** A node joins, publishes a device, and the pod is placed there with it. */
    private static final String PLACED = Manifests.read("audit/placed.yaml");

    private static final String GROUPED = PLACED.replace(
            "{resource: pods, name: train-0,", "{apiGroup: scheduling.k8s.io, resource: podgroups, name: train,");

    private final AtomicInteger pauses = new AtomicInteger();
    private Runnable duringPause = () -> {};
    private EmbeddedApiServer api;
    private ApiProxy proxy;
    private String text = "";

    @TempDir
    private Path folder;

    @BeforeEach
    void start() {
        api = EmbeddedApiServer.builder().node("node-a").start();
        proxy = ApiProxy.before(api.url());
    }

    @AfterEach
    void stop() {
        proxy.close();
        api.close();
    }

    private void put(String manifests) {
        ManifestObjects.putText(manifests, api.store());
    }

    private void pause() {
        pauses.incrementAndGet();
        duringPause.run();
    }

    private int audit() throws IOException {
        StringWriter out = new StringWriter();
        int status = new CommandLine(new AuditMain(new TwoLooks(this::pause)))
                .setOut(new PrintWriter(out))
                .execute("--kubeconfig=" + proxy.writeKubeconfig(folder.resolve("kubeconfig")));
        text = out.toString();
        return status;
    }

    /** Changes the cluster before a list is read for the first time. */
    private void before(String resource, Runnable change) {
        AtomicInteger lists = new AtomicInteger();
        proxy.inject(Fault.drop().on(Requests.lists(resource).and(request -> {
            if (lists.incrementAndGet() == 1) {
                change.run();
            }
            return false; // and no request is dropped
        })));
    }

    @Scenarios("audit-scenarios.txt")
    void aClusterThatChangesIsAudited(String scenario) throws Exception {
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ");
            String rest = line.substring(line.indexOf(' ') + 1);
            switch (words[0]) {
                case "#" -> {} // its title
                case "put" -> change(rest);
                case "before" -> before(words[1], () -> change(words[2]));
                case "pause" -> duringPause = () -> change(rest);
                case "audit" -> {
                    assertThat(audit()).as(text).isEqualTo(Integer.parseInt(words[1]));
                    assertThat(pauses).hasValue(Integer.parseInt(words[2]));
                }
                case "placed" -> assertThat(pod().at("/spec/nodeName")).hasToString("\"node-b\"");
                case "has" -> assertThat(text).contains(rest);
                case "matches" -> assertThat(text).containsPattern(rest);
                case "lacks" -> assertThat(text).doesNotContain(rest);
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private JsonNode pod() {
        return api.store().find("pods", "default", "train-0").orElseThrow();
    }

    private void change(String what) {
        String[] words = what.split(" ", 2);
        switch (words[0]) {
            case "pending" -> put(PENDING);
            case "placed" ->
                put(PLACED.replace("uid: u", "uid: " + pod().at("/metadata/uid").asText()));
            case "grouped" -> put(GROUPED);
            case "grouped-without-node" -> put(GROUPED.substring(GROUPED.indexOf("---")));
            case "reserved" ->
                put(Manifests.read("audit/reserved.yaml")
                        .formatted(Stream.of(words[1].split(" "))
                                .map("{resource: pods, name: %1$s, uid: %1$s}"::formatted)
                                .collect(Collectors.joining(", "))));
            case "end" -> {
                api.store().delete("pods", "default", "train-0");
                api.store().delete("resourceclaims", "default", "train");
            }
            case "forbidden" -> proxy.inject(Fault.status(403, "Forbidden").on(Requests.lists("resourceclaims")));
            default -> throw new IllegalArgumentException(what);
        }
    }

    @Test
    void aContradictionThatStaysIsFoundAsOnThePage() throws Exception {
        put(Manifests.read("audit/contradiction.yaml"));

        assertThat(audit()).isEqualTo(Report.FOUND);
        assertThat(pauses).hasValue(1);

        new ReferenceFile(PAGE).assertHasBlock("<!-- kubectl dra audit -->\n```text\n", text);
    }
}
