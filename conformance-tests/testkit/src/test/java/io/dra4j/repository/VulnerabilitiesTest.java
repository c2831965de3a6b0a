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
import org.junit.jupiter.params.provider.CsvSource;

/** {@code .ci/vulnerabilities}, with a server that answers as OSV does. */
class VulnerabilitiesTest {

    private static final String SBOM = """
            {"components": [{"purl": "pkg:maven/org.example/good@1.0?type=jar"}, {"name": "without"},
                {"purl": "pkg:maven/org.example/bad@2.0?type=jar"}, {"purl": "pkg:maven/org.example/good@1.0?type=pom"}]}
            """;
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
    void asksForEachPackageOnce() throws Exception {
        Script run = look(200, "{\"results\": [{}, {}]}", "# a comment\n\n");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.output()).contains("none in 2 packages").doesNotContain("SKIPPED");
        assertThat(requests)
                .singleElement()
                .asString()
                .contains("pkg:maven/org.example/bad@2.0\"", "pkg:maven/org.example/good@1.0\"");
    }

    /** The answer, the line that allows a finding, and the end of the program. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    200 | FOUND | GHSA-0000-0000-0000 another one | 1 | GHSA-1111-2222-3333 of pkg:maven/org.example/bad@2.0: https://osv.dev/vulnerability/GHSA
                    200 | FOUND | GHSA-0000-0000-0000 another one | 1 | lists GHSA-0000-0000-0000, which was not found
                    200 | FOUND | GHSA-1111-2222-3333 its parser is never called | 0 | allowed: its parser is never called
                    200 | FOUND | GHSA-1111-2222-3333     | 1 | lists GHSA-1111-2222-3333 without a reason
                    429 | later                           | `` | 0 | SKIPPED, .* answered 429
                    503 | later                           | `` | 0 | SKIPPED, .* answered 503
                    400 | no such ecosystem               | `` | 1 | answered 400: no such ecosystem
                    200 | ``                              | `` | 1 | sent an answer that is not as its API describes
                    200 | <html>                          | `` | 1 | sent an answer that is not as its API describes
                    200 | {}                              | `` | 1 | sent an answer that is not as its API describes
                    200 | {"results": [{}]}               | `` | 1 | sent an answer that is not as its API describes
                    200 | {"results": [{}, {"vulns": [{}]}]}             | `` | 1 | sent an answer that is not as its API describes
                    200 | {"results": [{}, {"vulns": "none"}]}           | `` | 1 | sent an answer that is not as its API describes
                    200 | {"results": [{}, {"next_page_token": "more"}]} | `` | 1 | sent an answer that is not as its API describes
                    """)
    void endsByTheAnswerAndByWhatIsAllowed(int status, String answer, String allowed, int end, String line)
            throws Exception {
        Script run = look(status, answer.replace("FOUND", ONE), allowed + "\n");

        assertThat(run.status()).as(run.output()).isEqualTo(end);
        assertThat(run.output()).containsPattern(line);
    }

    @Test
    void skipsAServiceThatIsNotReachable() throws Exception {
        server.stop(0);

        Script run = look("");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.output()).contains("SKIPPED", "is not reachable");
    }
}
