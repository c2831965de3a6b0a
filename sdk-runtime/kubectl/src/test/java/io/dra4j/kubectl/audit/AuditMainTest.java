// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Report;
import io.dra4j.doctor.TwoLooks;
import io.dra4j.kubectl.Manifests;
import io.dra4j.testkit.ReferenceFile;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

    @ParameterizedTest
    @ValueSource(strings = {"pods", "resourceclaims", "resourceslices", "nodes"})
    void whatComesWhileItReadsIsNoContradiction(String list) throws Exception {
        put(PENDING);
        before(list, () -> put(PLACED));

        assertThat(audit()).as(text).isEqualTo(Report.HEALTHY);
        assertThat(pauses).hasValue(0);
        assertThat(api.store().find("pods", "default", "train-0").orElseThrow().at("/spec/nodeName"))
                .hasToString("\"node-b\"");
    }

    @Test
    void aPodThatEndsWhileItReadsIsGoneAtTheSecondLook() throws Exception {
        put(PLACED);
        before("resourceclaims", () -> {
            api.store().delete("pods", "default", "train-0");
            api.store().delete("resourceclaims", "default", "train");
        });

        assertThat(audit()).as(text).isEqualTo(Report.HEALTHY);
        assertThat(pauses).hasValue(1);
        assertThat(text).contains("ok           pod-not-reserved");
    }

    private void putClaimReservedFor(String... pods) {
        put(Manifests.read("audit/reserved.yaml")
                .formatted(Stream.of(pods)
                        .map("{resource: pods, name: %1$s, uid: %1$s}"::formatted)
                        .collect(Collectors.joining(", "))));
    }

    @Test
    void aGroupOfPodsIsNoPodAndItsPodsHaveItsClaim() throws Exception {
        put(GROUPED);

        assertThat(audit()).as(text).isEqualTo(Report.HEALTHY);
        assertThat(pauses).hasValue(0);
    }

    @Test
    void aGroupOfPodsOnANodeThatIsGoneIsToBeEndedByHand() throws Exception {
        put(GROUPED.substring(GROUPED.indexOf("---"))); // without the node

        assertThat(audit()).as(text).isEqualTo(Report.FOUND);
        assertThat(text)
                .contains(
                        "get resourceclaim train -o jsonpath='{.status.reservedFor}'", "# end the pods and the groups")
                .doesNotContain("--force");
    }

    /** Each look finds a reservation that kube-controller-manager is about to remove. */
    @Test
    void aClaimThatShortPodsShareIsNoContradiction() throws Exception {
        putClaimReservedFor("short-0");
        duringPause = () -> putClaimReservedFor("short-1");

        assertThat(audit()).as(text).isEqualTo(Report.HEALTHY);
        assertThat(pauses).hasValue(1);
    }

    @Test
    void aReservationThatStaysIsFoundAmongOthersThatDoNot() throws Exception {
        putClaimReservedFor("short-0", "stuck");
        duringPause = () -> putClaimReservedFor("stuck", "short-1");

        assertThat(audit()).as(text).isEqualTo(Report.FOUND);
        assertThat(text)
                .contains("reserved-for-no-pod, claim default/shared for pod default/stuck: ")
                .doesNotContain("short-");
    }

    @Test
    void aSecondLookThatFailsDoesNotLoseTheFirst() throws Exception {
        putClaimReservedFor("stuck");
        duringPause = () -> proxy.inject(Fault.status(403, "Forbidden").on(Requests.lists("resourceclaims")));

        assertThat(audit()).as(text).isEqualTo(Report.INCOMPLETE);
        assertThat(text)
                .containsPattern("not checked +reserved-for-no-pod +found once, for claim default/shared for pod")
                .contains("the second look failed");
    }

    @Test
    void aContradictionThatStaysIsFoundAsOnThePage() throws Exception {
        put(Manifests.read("audit/contradiction.yaml"));

        assertThat(audit()).isEqualTo(Report.FOUND);
        assertThat(pauses).hasValue(1);

        new ReferenceFile(PAGE).assertHasBlock("<!-- kubectl dra audit -->\n```text\n", text);
    }
}
