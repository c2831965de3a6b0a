// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The calls that a kubelet need not make. */
class SkippedCallsTest {

    private static final String PREPARE = "NodePrepareResources";
    private static final String UNPREPARE = "NodeUnprepareResources";
    private static final KubeletClaim CLAIM = new KubeletClaim("ns", "claim", "uid-1");

    private Optional<JsonNode> object = Optional.empty();

    private void allocate(String uid, String first, String second) throws JsonProcessingException {
        String json = """
                {"metadata": {"uid": "%s"}, "status": {"allocation": {"devices": {"results": [
                  {"driver": "gpu.example.com", "skipNodeOperations": [%s]},
                  {"driver": "gpu.example.com", "skipNodeOperations": [%s]},
                  {"driver": "nic.example.com"}]}}}}
                """;
        String text = json.formatted(uid, first, second).replace('\'', '"');
        object = Optional.of(new ObjectMapper().readTree(text));
    }

    private boolean isMade(int minor, String call) {
        SkippedCalls skipped = new SkippedCalls(minor, claim -> object);
        return !skipped.due("gpu.example.com", List.of(CLAIM), call).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', delimiter = ';', textBlock = """
                    'NodeUnprepareResources'; 'NodeUnprepareResources'; true; false
                    '*'; 'NodePrepareResources', 'NodeUnprepareResources'; false; false
                    '*'; 'NodeUnprepareResources'; true; false
                    '*'; ``; true; true
                    'NodeWatchResources'; 'NodeWatchResources'; true; true
                    """)
    void areThoseThatAllDevicesOfTheDriverCanDoWithout(
            String first, String second, boolean prepares, boolean unprepares) throws Exception {
        allocate("uid-1", first, second);

        assertThat(isMade(37, PREPARE)).isEqualTo(prepares);
        assertThat(isMade(37, UNPREPARE)).isEqualTo(unprepares);
        assertThat(isMade(36, UNPREPARE))
                .as("by a release that knows no such field")
                .isTrue();
    }

    @Test
    void areRememberedWhenTheClaimIsGone() throws Exception {
        SkippedCalls skipped = new SkippedCalls(37, claim -> object);
        allocate("uid-1", "'*'", "'*'");
        assertThat(skipped.due("gpu.example.com", List.of(CLAIM), PREPARE)).isEmpty();

        object = Optional.empty();
        assertThat(skipped.due("gpu.example.com", List.of(CLAIM), UNPREPARE)).isEmpty();
    }

    @Test
    void areNoneOfAClaimOfWhichNothingIsKnownOrThatWasReplaced() throws Exception {
        assertThat(isMade(37, PREPARE)).isTrue();
        allocate("uid-2", "'*'", "'*'");
        assertThat(isMade(37, PREPARE)).isTrue();
    }
}
