// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code .ci/vulnerabilities}, with a server that answers as OSV does. */
class VulnerabilitiesTest {

    private static final String SBOM = """
            {"components": [{"purl": "pkg:maven/org.example/good@1.0?type=jar"}, {"name": "without"},
                {"purl": "pkg:maven/org.example/bad@2.0?type=jar"}, {"purl": "pkg:maven/org.example/good@1.0?type=pom"}]}
            """;
    private static final String NONE = "{\"results\": [{}, {}]}";
    private static final String ONE = "{\"results\": [{\"vulns\": [{\"id\": \"GHSA-1111-2222-3333\"}]}, {}]}";

    @TempDir
    private Path folder;

    private final List<String> requests = new ArrayList<>();
    private HttpServer server;

    @BeforeAll
    static void findTools() throws Exception {
        Script found = Script.run(Map.of(), "-c", "command -v curl && command -v jq");
        assumeTrue(found.status() == 0, "no curl or no jq on the PATH: .ci/vulnerabilities cannot run");
    }

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private Script look(int status, String answer, String allowed) throws Exception {
        server.createContext("/v1/querybatch", exchange -> {
            requests.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        return look(allowed);
    }

    private Script look(String allowed) throws Exception {
        Path sbom = Files.writeString(folder.resolve("sbom.json"), SBOM);
        Path list = Files.writeString(folder.resolve("allow"), allowed);
        String api = "http://127.0.0.1:" + server.getAddress().getPort();
        return Script.run(Map.of("OSV_API", api), ".ci/vulnerabilities", sbom.toString(), list.toString());
    }

    @Test
    void passesWithoutAFinding() throws Exception {
        Script run = look(200, NONE, "# a comment\n\n");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.output()).contains("none in 2 packages").doesNotContain("SKIPPED");
        assertThat(requests)
                .singleElement()
                .asString()
                .contains("pkg:maven/org.example/bad@2.0\"", "pkg:maven/org.example/good@1.0\"");
    }

    @Test
    void failsOnAFinding() throws Exception {
        Script run = look(200, ONE, "GHSA-0000-0000-0000 another one\n");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.output())
                .contains("GHSA-1111-2222-3333 of pkg:maven/org.example/bad@2.0: https://osv.dev/vulnerability/GHSA")
                .contains("lists GHSA-0000-0000-0000, which was not found");
    }

    @Test
    void passesWithAFindingThatIsAllowed() throws Exception {
        Script run = look(200, ONE, "GHSA-1111-2222-3333 its parser is never called\n");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.output()).contains("allowed: its parser is never called");
    }

    @Test
    void allowsNothingWithoutAReason() throws Exception {
        Script run = look(200, ONE, "GHSA-1111-2222-3333\n");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.output()).contains("lists GHSA-1111-2222-3333 without a reason");
    }

    @Test
    void skipsAServiceThatIsNotReachable() throws Exception {
        server.stop(0);

        Script run = look("");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.output()).contains("SKIPPED", "is not reachable");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void skipsAServiceThatIsNotAvailable(int status) throws Exception {
        Script run = look(status, "later", "");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.output()).contains("SKIPPED", "answered " + status);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "<html>",
                "{}",
                "{\"results\": [{}]}",
                "{\"results\": [{}, {\"vulns\": [{}]}]}",
                "{\"results\": [{}, {\"vulns\": \"none\"}]}",
                "{\"results\": [{}, {\"next_page_token\": \"more\"}]}"
            })
    void failsOnAnAnswerThatItDoesNotUnderstand(String answer) throws Exception {
        Script run = look(200, answer, "");

        assertThat(run.status()).as(run.output()).isEqualTo(1);
        assertThat(run.output()).contains("sent an answer that is not as its API describes");
    }

    @Test
    void failsOnARefusal() throws Exception {
        Script run = look(400, "no such ecosystem", "");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.output()).contains("answered 400: no such ecosystem");
    }
}
