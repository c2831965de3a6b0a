// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the driver makes of names that mean harm, and what it gives away. */
@DisplayNameGeneration(RequirementNames.class)
class HostileNamesIT {

    private static final String TOKEN = "s3cr3t-t0k3n-0f-th3-t3st";
    private static final int LONGEST_ERROR = 4096;
    private static final List<String> HOSTILE =
            List.of(
                    "",
                    ".",
                    "..",
                    "../../escaped",
                    "/tmp/escaped",
                    "a/b",
                    "a\\b",
                    "a/../../../nodes/node-1",
                    "%2e%2e%2fescaped",
                    "..%2f..%2fescaped",
                    "a?watch=true",
                    "a#b",
                    "a;b",
                    "a b",
                    " ",
                    "a\u0000b",
                    "\u0000",
                    "a\nb",
                    "a\r\nX-Header: 1",
                    "a\tb",
                    "-a",
                    "a-",
                    "$(reboot)",
                    "`reboot`",
                    "${jndi:ldap://127.0.0.1/a}",
                    "{}",
                    "\"},\"forget\":\"x",
                    "\u00e9\u4e2d\ud83d\ude80",
                    "\u202egnp.exe",
                    "UPPER_case",
                    "x".repeat(254),
                    "x".repeat(4096),
                    "\u4e2d".repeat(4096));
    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        DriverUnderTest driver = new DriverUnderTest();
        Path kubeconfig = driver.root.resolve("kubeconfig");
        Files.writeString(
                kubeconfig,
                Files.readString(kubeconfig).replace("user: {}", "user: {token: " + TOKEN + "}"));
        node = new NodeUnderTest(driver, "-v", "4");
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static Set<String> files() throws IOException {
        try (Stream<Path> all = Files.walk(node.driver.root)) {
            return new TreeSet<>(all.map(Path::toString).toList());
        }
    }

    private static List<KubeletClaim> hostileClaims(KubeletClaim real) {
        List<KubeletClaim> claims = new ArrayList<>();
        for (String text : HOSTILE) {
            claims.add(new KubeletClaim(real.namespace(), real.name(), text));
            claims.add(new KubeletClaim(text, real.name(), "uid-1-" + claims.size()));
            claims.add(new KubeletClaim(real.namespace(), text, "uid-2-" + claims.size()));
        }
        return claims;
    }

    @Test
    @Tag("DRA-SEC-02")
    void hostileNamesTouchNoFileAndAlterNoPath() throws Exception {
        KubeletClaim real = node.allocate("gpu-0");
        node.prepare(real);
        Set<String> before = files();
        int number = node.driver.proxy.lastNumber();
        List<KubeletClaim> claims = hostileClaims(real);

        for (KubeletClaim claim : claims) {
            CallResult result = node.call(claim);
            assertThat(result.complaint()).as("%s", claim).isPresent();
            result.answers()
                    .forEach(
                            (uid, answer) ->
                                    assertThat(answer.error().getBytes(StandardCharsets.UTF_8))
                                            .hasSizeLessThanOrEqualTo(LONGEST_ERROR));
            node.driver.kubelet.unprepare(DRIVER, List.of(claim));
        }

        System.out.println("DRA-SEC-02: " + claims.size() + " hostile claims");
        assertThat(files()).isEqualTo(before);
        assertThat(Path.of("/tmp/escaped")).doesNotExist();
        assertThat(node.driver.proxy.requests(Requests.after(number)))
                .extracting(RecordedRequest::path)
                .filteredOn(path -> !path.contains("/resourceslices"))
                .filteredOn(path -> !path.endsWith("/events"))
                .allMatch(
                        path ->
                                path.matches(
                                        "/apis/resource.k8s.io/v1/namespaces/[a-z0-9-]+"
                                                + "/resourceclaims/[a-z0-9.-]+"));
        assertThat(node.prepare(real).devices()).hasSize(1);
    }

    @Test
    @Tag("DRA-UNP-08")
    void aHeldUidIsUnpreparedWhateverItsNameIsSaidToBe() throws Exception {
        for (String text : List.of("../x", "", "UPPER_case", "x".repeat(300))) {
            KubeletClaim claim = node.allocate("gpu-0");
            node.prepare(claim);

            node.unprepare(new KubeletClaim(text, text, claim.uid()));

            assertThat(node.cdi.content()).as(text).isEmpty();
            node.driver.deleteObject(claim);
        }
    }

    @Test
    @Tag("DRA-SEC-04")
    void errorsAndLogsHoldNoCredentials() throws Exception {
        List<String> errors = new ArrayList<>();
        for (Fault fault :
                List.of(
                        Fault.status(401, "Unauthorized"),
                        Fault.status(403, "Forbidden"),
                        Fault.status(404, "NotFound"))) {
            try (var broken = node.driver.proxy.inject(fault.on(Requests.to("resourceclaims")))) {
                errors.add(node.refusal(node.allocate("gpu-0")));
                assertThat(broken.over()).isFalse();
            }
        }

        assertThat(errors).noneMatch(error -> error.contains(TOKEN));
        assertThat(errors).noneMatch(error -> error.contains(node.driver.root.toString()));
        assertThat(node.driver.log()).isNotEmpty().doesNotContain(TOKEN);
        assertThat(node.driver.log()).doesNotContainIgnoringCase("bearer ");
    }

    @Test
    @Tag("DRA-SEC-05")
    void theDriverAsksTheApiServerForNoMoreThanItNeeds() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        node.prepare(claim);
        node.unprepare(claim);
        node.refusal(node.allocate("no-such"));

        assertThat(node.driver.proxy.requests())
                .filteredOn(request -> !request.resource().isEmpty())
                .isNotEmpty()
                .extracting(HostileNamesIT::verb)
                .isSubsetOf(
                        "GET one resourceclaims",
                        "GET all resourceclaims",
                        "PATCH one resourceclaims",
                        "GET one nodes",
                        "GET all resourceslices",
                        "POST all resourceslices",
                        "PUT one resourceslices",
                        "PATCH one resourceslices",
                        "DELETE one resourceslices",
                        "POST all events");
    }

    private static String verb(RecordedRequest request) {
        String count = request.name().isEmpty() ? "all" : "one";
        return request.method() + " " + count + " " + request.resource();
    }
}
