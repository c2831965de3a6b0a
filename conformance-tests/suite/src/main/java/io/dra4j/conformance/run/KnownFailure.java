// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.dra4j.testkit.settings.SettingsException;
import java.net.URI;
import java.time.DateTimeException;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * A known failure of a requirement.
 *
 * @param id the requirement, for example {@code DRA-PREP-18}
 * @param variant the variant that fails, for example {@code v1beta1}; empty for all
 * @param issue where the fault is tracked
 * @param expires the last day on which the failure is excused
 * @param reason why it cannot be fixed at once
 */
record KnownFailure(String id, String variant, URI issue, LocalDate expires, String reason) {

    @JsonCreator
    static KnownFailure read(
            @JsonProperty("id") @Nullable String id,
            @JsonProperty("variant") @Nullable String variant,
            @JsonProperty("issue") @Nullable String issue,
            @JsonProperty("expires") @Nullable String expires,
            @JsonProperty("reason") @Nullable String reason) {
        return new KnownFailure(
                required("id", id),
                variant == null ? "" : variant,
                address(required("issue", issue)),
                day(required("expires", expires)),
                required("reason", reason));
    }

    private static String required(String field, @Nullable String value) {
        if (value == null || value.isBlank()) {
            throw new SettingsException(field + " is missing: an entry has id, issue, expires and reason");
        }
        return value.strip();
    }

    private static URI address(String text) {
        if (!text.matches("https?://[^\\s/]+/\\S*")) {
            throw new SettingsException(
                    "issue is the URL of an issue, such as https://example.com/issues/1, not " + text);
        }
        try {
            return URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new SettingsException("issue is not a URL: " + e.getMessage());
        }
    }

    private static LocalDate day(String text) {
        try {
            return LocalDate.parse(text);
        } catch (DateTimeException e) {
            throw new SettingsException("expires is a day such as 2027-01-31, not " + text);
        }
    }

    boolean covers(Result result) {
        return id.equals(result.requirement().id()) && (variant.isEmpty() || variant.equals(result.variant()));
    }

    boolean expired(LocalDate today) {
        return today.isAfter(expires);
    }

    /** Returns its subject, for example {@code DRA-PREP-18[v1beta1]}. */
    public String target() {
        return variant.isEmpty() ? id : id + "[" + variant + "]";
    }
}
