// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The faults that a vendor knows and has promised to fix, listed in a YAML file.
 *
 * <p>A listed failure is still shown, and its profile is partial, but it does not fail the run until its entry expires.
 *
 * @param entries the known failures, each requirement and variant once
 */
public record KnownFailures(List<KnownFailure> entries) {

    public static final KnownFailures NONE = new KnownFailures(List.of());

    private static final ObjectMapper YAML = YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    public KnownFailures {
        entries = List.copyOf(entries);
        Set<String> seen = new HashSet<>();
        for (KnownFailure entry : entries) {
            if (!seen.add(entry.target())) {
                throw new SettingsException(entry.target() + " is listed twice");
            }
        }
    }

    /** Results, in their order, in which known failures are marked, and the problems of the list, a sentence each. */
    public record Applied(List<Result> results, List<String> notes) {

        public Applied {
            results = List.copyOf(results);
            notes = List.copyOf(notes);
        }
    }

    /** Reads the file; SettingsException if it cannot be read or has unknown content. */
    public static KnownFailures read(Path file) {
        try {
            String text = Files.readString(file);
            JsonNode tree = YAML.readTree(text);
            if (tree.isMissingNode() || tree.isNull()) {
                return NONE;
            }
            List<KnownFailure> read = YAML.readValue(text, new TypeReference<List<KnownFailure>>() {});
            int empty = read.indexOf(null);
            if (empty >= 0) {
                throw new SettingsException("entry " + (empty + 1) + " is empty");
            }
            return new KnownFailures(read);
        } catch (SettingsException e) {
            throw new SettingsException(file + ": " + e.getMessage());
        } catch (JsonProcessingException e) {
            throw new SettingsException(file + ": " + explained(e));
        } catch (IOException e) {
            String why = e instanceof NoSuchFileException ? "no such file" : e.getMessage();
            throw new SettingsException("Can't read the known failures " + file + ": " + why);
        }
    }

    private static String explained(JsonProcessingException e) {
        String place = "";
        if (e instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()) {
            place = "entry " + (mapping.getPath().get(0).getIndex() + 1) + ": ";
        }
        if (e.getCause() instanceof SettingsException ours) {
            return place + ours.getMessage();
        }
        String line = e.getLocation() == null ? "" : "line " + e.getLocation().getLineNr() + ": ";
        String first = e.getOriginalMessage().lines().findFirst().orElse("");
        return line + place + first.replaceAll(" \\(class [^)]*\\)", "");
    }

    /**
     * Turns listed failures into the verdict DEVIATION.
     *
     * <p>An entry that has expired excuses nothing, and the message of the failure notes it. An
     * entry about an unknown requirement, or about one that did not fail, is worth a note.
     *
     * @param known the ids of all requirements
     */
    public Applied apply(List<Result> results, Set<String> known, LocalDate today) {
        List<Result> changed =
                results.stream().map(result -> excused(result, today)).toList();
        List<String> notes = new ArrayList<>();
        for (KnownFailure entry : entries) {
            String note = note(entry, results, known);
            if (!note.isEmpty()) {
                notes.add("known failures: " + entry.target() + " " + note);
            }
        }
        return new Applied(changed, notes);
    }

    private Result excused(Result result, LocalDate today) {
        if (result.verdict() != Verdict.FAIL) {
            return result;
        }
        return entries.stream()
                .filter(entry -> entry.covers(result))
                // an entry for this variant takes precedence over one for all
                .max((one, other) -> one.variant().length() - other.variant().length())
                .map(entry -> excused(result, entry, today))
                .orElse(result);
    }

    private static Result excused(Result result, KnownFailure entry, LocalDate today) {
        boolean expired = entry.expired(today);
        String words = expired
                ? "The known failure that was listed for it expired on %s (%s)."
                : "A known failure until %s: %s (%s)";
        String remark = expired
                ? words.formatted(entry.expires(), entry.issue())
                : words.formatted(entry.expires(), entry.reason(), entry.issue());
        return result.with(expired ? Verdict.FAIL : Verdict.DEVIATION, result.message() + "\n" + remark);
    }

    private static String note(KnownFailure entry, List<Result> results, Set<String> known) {
        if (!known.contains(entry.id())) {
            return "is listed, but no requirement has this id";
        }
        List<Verdict> verdicts =
                results.stream().filter(entry::covers).map(Result::verdict).toList();
        if (verdicts.isEmpty()) {
            return "is listed, but was not part of this run";
        }
        Set<Verdict> held = Set.of(Verdict.PASS, Verdict.WARN, Verdict.INFO);
        return held.containsAll(verdicts) ? "is listed, but did not fail: remove it from the list" : "";
    }

    /**
     * A known failure of a requirement.
     *
     * @param id the requirement, for example {@code DRA-PREP-18}
     * @param variant the variant that fails, for example {@code v1beta1}; empty for all
     * @param issue where the fault is tracked
     * @param expires the last day on which the failure is excused
     * @param reason why it cannot be fixed now
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
                    Requirement.fullId(required("id", id)),
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
                        "issue must be the URL of an issue, such as https://example.com/issues/1, not " + text);
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
                throw new SettingsException("expires must be a day such as 2027-01-31, not " + text);
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
}
