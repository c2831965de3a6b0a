// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sequences of requests that a real API server (1.36.2) answered: this one answers the same, but
 * for {@link Differences}.
 */
@Tag("gate")
class RecordedRequestsIT {
    private static final Map<String, List<RecordedRequest>> SEQUENCES = sequences();

    private static Map<String, List<RecordedRequest>> sequences() {
        Map<String, List<RecordedRequest>> sequences = new LinkedHashMap<>();
        Recordings.of("transcripts").stream()
                .map(RecordedRequest::new)
                .forEach(one -> sequences
                        .computeIfAbsent(one.sequence(), name -> new ArrayList<>())
                        .add(one));
        return sequences;
    }

    static Stream<String> names() {
        return SEQUENCES.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("names")
    void isAnsweredTheSame(String sequence) throws Exception {
        List<String> differences = new ArrayList<>();
        try (var server =
                EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start()) {
            Map<Integer, RecordedAnswer> answers = new HashMap<>();
            for (RecordedRequest request : SEQUENCES.get(sequence)) {
                RecordedAnswer answer = request.send(server, answers);
                answers.put(request.step(), answer);
                request.expected().differences(answer).stream()
                        .map(one -> request + ": " + one)
                        .filter(one -> !Differences.explain(one))
                        .forEach(differences::add);
            }
        }
        assertThat(differences).isEmpty();
    }
}
