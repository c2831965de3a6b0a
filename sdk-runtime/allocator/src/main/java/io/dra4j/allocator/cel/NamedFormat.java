// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.FORMAT;
import static io.dra4j.allocator.cel.Types.STRINGS;

import io.dra4j.rules.Names;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A named string format of CEL expressions.
 *
 * @param problems returns the problems of a string; none if it has the format
 */
record NamedFormat(String name, Function<String, List<String>> problems) {
    private static final Pattern DNS_1035 = Pattern.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final Pattern UUID =
            Pattern.compile("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}");
    private static final String DNS_1035_RULE =
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with"
                    + " an alphabetic character, and end with an alphanumeric character";

    private static final Map<String, Function<String, List<String>>> ALL = all();

    private static Map<String, Function<String, List<String>>> all() {
        Map<String, Function<String, List<String>>> all = new LinkedHashMap<>();
        Function<String, List<String>> dns1035 =
                form(text -> DNS_1035.matcher(text).matches(), DNS_1035_RULE);
        all.put("dns1123Label", Names::dnsLabelProblems);
        all.put("dns1123Subdomain", Names::dnsSubdomainProblems);
        all.put("dns1035Label", dns1035);
        all.put("qualifiedName", Names::qualifiedNameProblems);
        all.put("dns1123LabelPrefix", text -> Names.dnsLabelProblems(prefix(text)));
        all.put("dns1123SubdomainPrefix", text -> Names.dnsSubdomainProblems(prefix(text)));
        all.put("dns1035LabelPrefix", text -> dns1035.apply(prefix(text)));
        all.put("labelValue", Names::labelValueProblems);
        all.put("uri", form(text -> Functions.succeeds(() -> Url.parse(text)), "invalid URI"));
        all.put("uuid", form(text -> UUID.matcher(text).matches(), "does not match the UUID format"));
        all.put("byte", form(NamedFormat::isBase64, "invalid base64"));
        all.put("date", form(text -> isTime(() -> LocalDate.parse(text)), "invalid date"));
        all.put("datetime", form(text -> isTime(() -> OffsetDateTime.parse(text)), "invalid datetime"));
        return all;
    }

    private static Function<String, List<String>> form(Predicate<String> form, String problem) {
        return text -> form.test(text) ? List.of() : List.of(problem);
    }

    /** Completes a prefix to a name, because a hyphen at its end is allowed. */
    private static String prefix(String text) {
        return text.length() > 1 && text.endsWith("-") ? text.substring(0, text.length() - 2) + "a" : text;
    }

    private static boolean isBase64(String text) {
        return Functions.succeeds(() -> Base64.getDecoder().decode(text));
    }

    private static boolean isTime(Runnable parser) {
        try {
            parser.run();
            return true;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    static void addTo(Functions functions) {
        ALL.forEach((name, problems) -> {
            NamedFormat format = new NamedFormat(name, problems);
            functions.global("format." + name, "format." + name, FORMAT, a -> format);
        });
        functions
                .global("format.named", "format-named", Types.optional(FORMAT), a -> named((String) a[0]), STRING)
                .member(
                        "validate",
                        "format-validate",
                        Types.optional(STRINGS),
                        a -> ((NamedFormat) a[0]).validate((String) a[1]),
                        FORMAT,
                        STRING);
    }

    private static Optional<NamedFormat> named(String name) {
        return Optional.ofNullable(ALL.get(name)).map(problems -> new NamedFormat(name, problems));
    }

    private Optional<List<String>> validate(String text) {
        return Optional.of(problems.apply(text)).filter(found -> !found.isEmpty());
    }
}
