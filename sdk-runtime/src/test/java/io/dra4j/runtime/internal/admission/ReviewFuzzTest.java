// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.runtime.admission.LaneConfigs;
import io.dra4j.runtime.admission.Reviews;
import io.dra4j.runtime.internal.admission.AdmissionRule.ClaimRule;
import io.dra4j.runtime.internal.admission.AdmissionRule.PodRule;
import io.dra4j.runtime.internal.admission.AdmissionService.ReviewPage;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Any document is answered: by an allowance or a refusal, or as one that is no review. */
@Tag("counts")
class ReviewFuzzTest {

    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 500_000 : 5_000;
    private static final long SEED = Long.getLong("dra4j.seed", 20261125);
    private static final JsonMapper JSON = new JsonMapper();
    private static final List<String> PIECES =
            List.of(("null {} [] \"\" -1 1e99 true \"\\u0000\" {\"a\": ] 99999999999999999999 \"\\ud800\" ,"
                            + " 0.1 [[[[ \"opaque\":{} \"UPDATE\" \"ResourceClaimTemplate\" \u00ff")
                    .split(" "));

    private final ReviewPage claims =
            new ReviewPage(new ClaimRule(new ConfigCheck(LaneConfigs.DRIVER, LaneConfigs.TYPES)));
    private final ReviewPage pods = new ReviewPage(new PodRule(Set.of("example.com/lane")));

    /** Replaces some parts, which are often values as a whole, by others. */
    private static String mutated(Random random, String text) {
        StringBuilder mutated = new StringBuilder(text);
        for (int i = random.nextInt(3); i >= 0; i--) {
            int at = random.nextInt(mutated.length());
            int end = random.nextBoolean() ? at + 1 : valueEnd(mutated, at);
            String piece = random.nextBoolean()
                    ? PIECES.get(random.nextInt(PIECES.size()))
                    : text.substring(at % text.length()).lines().findFirst().orElse("");
            mutated.replace(at, Math.min(end, mutated.length()), piece);
            if (mutated.length() == 0) {
                return "";
            }
        }
        return mutated.toString();
    }

    private static int valueEnd(StringBuilder text, int from) {
        int end = text.indexOf("\n", from);
        return end < 0 ? from + 1 : end;
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void anyDocumentIsAnswered() throws IOException {
        Random random = new Random(SEED);
        List<String> reviews = Reviews.names().stream().map(Reviews::text).toList();
        Map<Integer, Integer> statuses = new TreeMap<>();

        for (int round = 0; round < ROUNDS; round++) {
            String document = mutated(random, reviews.get(random.nextInt(reviews.size())));
            HttpAnswer answer = answered(random.nextInt(5) == 0 ? pods : claims, document);
            statuses.merge(answer.status(), 1, Integer::sum);
        }

        assertThat(statuses).containsOnlyKeys(200, 400);
        assertThat(statuses.values()).allMatch(count -> count > ROUNDS / 10);
    }

    private static HttpAnswer answered(ReviewPage page, String document) {
        try {
            HttpAnswer answer = page.answer("", document.getBytes(ISO_8859_1));
            if (answer.status() == 200) {
                assertThat(JSON.readTree(answer.body()).at("/response/allowed").isBoolean())
                        .isTrue();
            }
            return answer;
        } catch (IOException | RuntimeException e) {
            throw new AssertionError(document, e);
        }
    }
}
