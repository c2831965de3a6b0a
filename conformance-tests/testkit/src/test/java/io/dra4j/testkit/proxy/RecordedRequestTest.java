// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.proxy.WireFormat.EventBounds;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The kinds of recorded requests, the log of them, and where the events of their answers end. */
class RecordedRequestTest {

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/proxy/a-path-names-a-resource-and-an-object.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void aPathNamesAResourceAndAnObject(String path, String resource, String name) {
        RecordedRequest request = RecordedRequest.arrived(1, Instant.EPOCH, "GET", path, Map.of(), "", "");

        assertThat(request.resource()).isEqualTo(resource);
        assertThat(request.name()).isEqualTo(name);
    }

    private Instant now = Instant.EPOCH;
    private final RequestLog log = new RequestLog(() -> now);

    private int arrived(String method, String path, Map<String, String> query) {
        return log.arrived(method, path, query, "", "").number();
    }

    private List<Integer> numbers(Predicate<RecordedRequest> kind) {
        return log.all().stream().filter(kind).map(RecordedRequest::number).toList();
    }

    @Test
    void predicatesFindRequestsByWhatTheyDo() {
        String pods = "/api/v1/namespaces/a/pods";
        arrived("GET", pods, Map.of("watch", "0"));
        arrived("GET", pods, Map.of("watch", "1", "dryRun", ""));
        arrived("GET", pods + "/b", Map.of());
        arrived("HEAD", pods, Map.of());
        arrived("POST", pods, Map.of());
        arrived("POST", pods, Map.of("dryRun", "All"));
        arrived("PUT", pods + "/b/status", Map.of());
        arrived("PATCH", pods + "/b", Map.of());
        arrived("DELETE", pods + "/b", Map.of());
        arrived("GET", "/version", Map.of());
        arrived("PUT", "/api/v1/nodes/b", Map.of());

        assertThat(numbers(Requests.all())).hasSize(11);
        assertThat(numbers(Requests.to("pods"))).hasSize(9);
        assertThat(numbers(Requests.lists("pods"))).containsExactly(1);
        assertThat(numbers(RecordedRequest::list)).containsExactly(1);
        assertThat(numbers(Requests.watches("pods"))).containsExactly(2);
        assertThat(numbers(Requests.writes("pods"))).containsExactly(5, 7, 8, 9);
        assertThat(numbers(Requests.creates("pods"))).containsExactly(5);
        assertThat(numbers(Requests.updates("pods"))).containsExactly(7, 8);
        assertThat(numbers(Requests.after(10))).containsExactly(11);
    }

    @Test
    void theLogHasEachRequestAsFarAsItHasProgressed() throws Exception {
        int first = arrived("GET", "/version", Map.of("a", "b"));
        int second = arrived("GET", "/version", Map.of());
        log.fault(first, "dropped");
        log.status(second, 500);
        assertThat(numbers(RecordedRequest::open)).containsExactly(second);
        assertThat(log.await(Duration.ZERO, seen -> seen.size() > 2)).isEmpty();

        now = now.plusSeconds(3);
        log.ended(second, "busy");
        now = now.plusSeconds(3);
        log.ended(second, "cut");

        assertThat(log.all()).extracting(RecordedRequest::fault).containsExactly("dropped", "");
        assertThat(log.all()).extracting(RecordedRequest::errorBody).containsExactly("", "busy");
        assertThat(log.all())
                .extracting(RecordedRequest::took)
                .containsExactly(Optional.empty(), Optional.of(Duration.ofSeconds(3)));
        assertThat(log.all()).extracting(one -> one.query("a")).containsExactly("b", "");
        assertThat(numbers(RecordedRequest::open)).isEmpty();
    }

    /** Two events: of 300 bytes and of none. */
    private static final ByteBuffer FRAMES =
            ByteBuffer.allocate(308).putInt(300).put(new byte[300]).putInt(0).flip();

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 304, 308})
    void framesEndByTheirLength(int piece) {
        EventBounds bounds = new EventBounds.Frames();
        List<Integer> ends = new ArrayList<>();
        for (int at = 0; at < FRAMES.limit(); at += piece) {
            int length = Math.min(piece, FRAMES.limit() - at);
            bounds.sent(FRAMES.slice(at, length));
            if (bounds.betweenEvents()) {
                ends.add(at + length);
            }
        }

        assertThat(ends).endsWith(308).isSubsetOf(304, 308);
        assertThat(ends.contains(304)).isEqualTo(304 % piece == 0 && piece < 308);
    }

    @Test
    void linesEndWithALineFeed() {
        EventBounds bounds = new EventBounds.Lines();
        assertThat(bounds.betweenEvents()).isTrue();

        bounds.sent(ByteBuffer.wrap("{}\n{".getBytes(StandardCharsets.UTF_8)));
        assertThat(bounds.betweenEvents()).isFalse();

        bounds.sent(ByteBuffer.wrap("}\n".getBytes(StandardCharsets.UTF_8)));
        assertThat(bounds.betweenEvents()).isTrue();
    }
}
