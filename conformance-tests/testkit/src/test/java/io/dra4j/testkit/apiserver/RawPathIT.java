// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths mean what was sent, byte for byte, at the server and through the proxy. */
@Timeout(60)
class RawPathIT {

    private static final String NODES = "/api/v1/nodes/";

    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().node("node-1").start();

    @AutoClose
    private final ApiProxy proxy = ApiProxy.before(server.url());

    private static Answer get(URI where, String path) throws IOException {
        try (Socket socket = new Socket(where.getHost(), where.getPort())) {
            String request = "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n".formatted(path);
            socket.getOutputStream().write(request.getBytes(UTF_8));
            String[] answer = new String(socket.getInputStream().readAllBytes(), UTF_8).split("\r\n\r\n", 2);
            String type = answer[0].replaceFirst("(?is).*\ncontent-type: ([^\r\n]*).*", "$1");
            int status =
                    Integer.parseInt(answer[0].substring("HTTP/1.x ".length()).substring(0, 3));
            return new Answer(status, Map.of("content-type", type), answer[1].getBytes(UTF_8));
        }
    }

    private Answer getBothWays(String path) throws IOException {
        Answer direct = get(server.url(), path);
        Answer proxied = get(proxy.url(), path);
        assertThat(proxied.status()).isEqualTo(direct.status());
        assertThat(proxied.contentType()).isEqualToIgnoringCase(direct.contentType());
        assertThat(proxied.body().path("kind")).isEqualTo(direct.body().path("kind"));
        assertThat(proxied.body().path("reason")).isEqualTo(direct.body().path("reason"));
        return direct;
    }

    private RecordedRequest lastRecorded() {
        return proxy.requests().get(proxy.lastNumber() - 1);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/apiserver/a-segment-is-one-name-decoded-once.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void aSegmentIsOneNameDecodedOnce(String sent, String name) throws IOException {
        Answer answer = getBothWays(NODES + sent);

        assertThat(answer.text("message")).isEqualTo("nodes \"" + name.replace("\\", "\\\\") + "\" not found");
        assertThat(lastRecorded().path()).isEqualTo(NODES + sent);
        assertThat(lastRecorded().resource()).isEqualTo("nodes");
        assertThat(lastRecorded().name()).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ..|Name parameter invalid: "..": may not be '..'
                    %2e%2e|Name parameter invalid: "..": may not be '..'
                    %252e|Name parameter invalid: "%2e": may not contain '%'
                    """)
    void aNameThatWouldLeadElsewhereIsABadRequest(String sent, String message) throws IOException {
        Answer answer = getBothWays(NODES + sent);

        assertThat(answer.refusal()).isEqualTo("400 BadRequest");
        assertThat(answer.message()).isEqualTo(message);
    }

    @Test
    void anEncodedSlashDividesLikeAPlainOne() throws IOException {
        assertThat(getBothWays(NODES + "node-1%2Fstatus").text("metadata", "name"))
                .isEqualTo("node-1");
        assertThat(getBothWays(NODES + "..%2Fnode-1").refusal()).isEqualTo("404 NotFound");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a%", "a%4", "a%zz", "a%zz?limit=1"})
    void anInvalidEscapeIsABadRequest(String sent) throws IOException {
        Answer answer = getBothWays(NODES + sent);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("kind")).isEqualTo("Status");
        assertThat(answer.text("reason")).isEqualTo("BadRequest");
    }

    @ParameterizedTest
    @ValueSource(strings = {"//x/y", "/api/v1/../nodes", "/api/v1/nodes/x%0d%0A"})
    void otherPathsLeadNowhere(String sent) throws IOException {
        Answer answer = getBothWays(sent);

        assertThat(answer.status()).isEqualTo(404);
        assertThat(lastRecorded().path()).isEqualTo(sent);
    }

    @Test
    void aQueryIsSentOnAsItIs() throws IOException {
        Answer answer = getBothWays("/api/v1/nodes?labelSelector=a%3Db%3Bc&limit=1");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(lastRecorded().query("labelSelector")).isEqualTo("a=b;c");
    }

    @Test
    void anInvalidQueryIsABadRequest() throws IOException {
        assertThat(get(server.url(), "/api/v1/nodes?limit=%zz").status()).isEqualTo(400);
    }

    @ParameterizedTest
    @ValueSource(ints = {4096, 100_000})
    void namesAreAsLongAsAClientMakesThem(int length) throws IOException {
        assertThat(getBothWays(NODES + "x".repeat(length)).status()).isEqualTo(404);
    }
}
