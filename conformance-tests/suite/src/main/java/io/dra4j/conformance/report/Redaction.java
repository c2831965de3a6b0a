// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.run.Evidence;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Removes secrets from all output: reports are published, and logs are full of tokens.
 *
 * <p>Removed are the values of authorization headers, bearer tokens, JSON web tokens, private keys, passwords in URLs,
 * the values of fields, variables and options that are called a token, a password, a secret or a key, and every long
 * run of characters that looks like Base64 of something random. UIDs, digests in hexadecimal digits, paths and the
 * names of GPUs stay. Redacting twice changes nothing. All patterns take time in proportion to the text.
 */
final class Redaction {

    static final String REDACTED = "REDACTED";

    /** The limit of a text: reports show less than this, so a secret that is cut off here is never shown. */
    private static final int MOST = 100_000;

    private static final int LONG = 40;
    private static final int OTHER = 0;
    private static final int SMALL = 1;
    private static final int CAPITAL = 2;
    private static final int DIGIT = 3;
    private static final String SECRET =
            "(?:token|passwd|password|passphrase|secret|credentials?|client-key-data|api[_-]?key|access[_-]?key|private[_-]?key)";
    private static final String VALUE = "(?:\"[^\"\n]*+\"?|'[^'\n]*+'?|[^\\s\"',;&}\\]]++)";

    private static final List<Rule> RULES = List.of(
            // --- headers and what they carry
            rule("(authorization[\"']?\\s{0,4}[:=]\\s{0,4}[\"'\\[]{0,2})[^\"'\n\\]]++"),
            rule("(\\bbearer\\s{1,4})[\\w.~+/=-]++"),
            rule("()\\beyJ[\\w-]{8,}+\\.[\\w-]++(?:\\.[\\w-]*+)?"),
            rule("(://)[^\\s/:@]{1,64}:[^\\s/@]{1,256}@", "@"),
            // --- keys
            rule("(-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----)[^-]*+(?:-----END [A-Z ]{0,24}PRIVATE KEY-----)?"),
            // --- fields, variables, options: token: x, "token":"x", TOKEN=x, --token x
            rule("((?<![\\w.-])-[\\w.-]{0,40}" + SECRET + "[\"']?(?:[ =]|,?\\s{1,8}(?:- )?))" + VALUE),
            rule("(" + SECRET + "\\\\?[\"']?[ \t]{0,4}[:=]\\s{0,40}\\\\?)" + VALUE),
            rule("(name[\"']?\\s?:\\s?[\"']?[\\w.-]{0,40}"
                    + SECRET
                    + "[\"']?\\s?,?\\s{0,40}[\"']?value[\"']?\\s?:\\s{0,4})"
                    + VALUE));

    private static final Pattern RUN = Pattern.compile("[A-Za-z0-9+/_-]{" + LONG + ",}+={0,2}");

    private Redaction() {}

    private record Rule(Pattern pattern, String replacement) {}

    private static Rule rule(String regex) {
        return rule(regex, "");
    }

    /** Replaces a match by its first group, the placeholder, and the given end. */
    private static Rule rule(String regex, String behind) {
        return new Rule(Pattern.compile(regex, Pattern.CASE_INSENSITIVE), "$1" + REDACTED + behind);
    }

    public static String text(String text) {
        String clean = text;
        for (Rule rule : RULES) {
            clean = rule.pattern().matcher(clean).replaceAll(rule.replacement());
        }
        return RUN.matcher(clean).replaceAll(Redaction::runOrNothing);
    }

    /** The result without the secrets in its message and its evidence. */
    public static Result result(Result result) {
        Evidence evidence = result.evidence();
        return new Result(
                result.requirement(),
                result.variant(),
                result.verdict(),
                text(Excerpt.head(result.message(), MOST)),
                result.took(),
                new Evidence(
                        evidence.calls().stream()
                                .map(call -> text(Excerpt.head(call, MOST)))
                                .toList(),
                        text(Excerpt.tail(evidence.requests(), MOST)),
                        text(Excerpt.head(evidence.files(), MOST)),
                        text(Excerpt.tail(evidence.log(), MOST))),
                result.measurements(),
                result.blockedBy());
    }

    /** The outcome without the secrets in its results, settings and descriptions of the driver. */
    static RunOutcome outcome(RunOutcome outcome) {
        Header header = outcome.header();
        Map<String, String> implementation = new LinkedHashMap<>();
        header.implementation().forEach((key, value) -> implementation.put(key, text(value)));
        Header clean = new Header(
                header.suiteVersion(),
                header.catalogueVersion(),
                header.seed(),
                header.kubernetes(),
                header.driverKind(),
                text(header.driverName()),
                header.services(),
                implementation,
                header.detected(),
                header.declared(),
                header.timeoutFactor(),
                header.strict(),
                header.started(),
                header.took(),
                text(header.settings()));
        return new RunOutcome(
                clean,
                outcome.profiles(),
                outcome.results().stream().map(Redaction::result).toList(),
                outcome.notes().stream().map(Redaction::text).toList());
    }

    private static String runOrNothing(MatchResult run) {
        return Matcher.quoteReplacement(looksRandom(run.group()) ? REDACTED : run.group());
    }

    /**
     * Returns whether small letters, capitals and digits are as mixed as in Base64 of random bytes.
     *
     * <p>There, two neighbours are of different kinds in six cases of ten, and a small letter follows four capitals of
     * ten. In mixed-case names, a small letter follows nearly every capital; paths have longer words, hexadecimal
     * digits have letters of one case, and the UUID of a GPU begins with three capitals.
     */
    private static boolean looksRandom(String run) {
        int[] kinds = new int[4];
        int changes = 0;
        int words = 0;
        int before = OTHER;
        for (char one : run.toCharArray()) {
            int kind = kind(one);
            kinds[kind]++;
            changes += kind == before ? 0 : 1;
            words += before == CAPITAL && kind == SMALL ? 1 : 0;
            before = kind;
        }
        int length = run.length();
        return kinds[SMALL] > length / 8
                && kinds[CAPITAL] > length / 8
                && changes > length * 3 / 10
                && words * 10 <= kinds[CAPITAL] * 8;
    }

    private static int kind(char one) {
        if (one >= 'a' && one <= 'z') {
            return SMALL;
        }
        if (one >= 'A' && one <= 'Z') {
            return CAPITAL;
        }
        return one >= '0' && one <= '9' ? DIGIT : OTHER;
    }
}
