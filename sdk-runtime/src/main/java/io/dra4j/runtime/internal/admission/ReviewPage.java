// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import io.dra4j.runtime.internal.http.HttpAnswer;
import io.dra4j.runtime.internal.http.Page;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers reviews by a rule. */
record ReviewPage(Rule rule) implements Page {

    private static final Logger LOG = LoggerFactory.getLogger(ReviewPage.class);

    /** As many as a valid claim may have configurations; an answer must not be of any length. */
    private static final int MOST_PROBLEMS = 32;

    @Override
    public HttpAnswer answer(String accept, byte[] document) {
        try {
            return HttpAnswer.of(200, "application/json", answer(Review.read(document)));
        } catch (BadReviewException e) {
            LOG.atInfo().addKeyValue(LogField.REASON, e.getMessage()).log("Review refused");
            return HttpAnswer.text(400, String.valueOf(e.getMessage()));
        }
    }

    private byte[] answer(Review review) throws BadReviewException {
        String group = review.type("group");
        String version = review.type("version");
        String kind = review.type("kind");
        if (!rule.isFor(group, version, kind)) {
            throw new BadReviewException("the review is of the kind \"%s\" of \"%s/%s\"; this page is for %s"
                    .formatted(kind, group, version, rule.kinds()));
        }
        if (!review.isChecked() || review.leavesSpec()) {
            return review.allowed();
        }
        List<Problem> problems = rule.problems(kind, review.object()).stream()
                .limit(MOST_PROBLEMS)
                .toList();
        if (problems.isEmpty()) {
            return review.allowed();
        }
        LOG.atInfo()
                .addKeyValue(LogField.OBJECT, review.name())
                .addKeyValue(LogField.REASON, problems.get(0).message())
                .log("Object refused");
        return review.refused(problems);
    }
}
