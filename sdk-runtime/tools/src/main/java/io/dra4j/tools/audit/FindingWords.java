// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** Builds findings from the shared texts. */
final class FindingWords {

    private static final ResourceBundle FINDINGS = ResourceBundle.getBundle("io.dra4j.tools.audit.findings");

    private FindingWords() {}

    /**
     * Returns a finding about a claim.
     *
     * @param id the check's id, followed by a slash and the case if it has several
     * @param details for the places in its words
     */
    static Finding finding(String id, ClaimRef ref, List<String> fix, @Nullable Object... details) {
        return finding(id, claim(ref), fix, details);
    }

    /** Returns a finding about something else. */
    static Finding finding(String id, String subject, List<String> fix, @Nullable Object... details) {
        String[] words = FINDINGS.getString(id).split(" \\| ");
        return new Finding(
                id.replaceFirst("/.*", ""),
                Severity.valueOf(words[0]),
                subject,
                words[1].formatted(details),
                words[2].formatted(details),
                fix);
    }

    static String claim(ClaimRef ref) {
        return "claim %s/%s (%s)".formatted(ref.namespace(), ref.name(), ref.uid());
    }
}
