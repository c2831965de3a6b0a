// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.proxy.WireFormat.EventBounds;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The resource of a recorded request, and where the events of its answer end. */
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
